"""All scores under a relation that no known triple has, by the engine or row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kgdash.engine.discovery import Bounds, RelationRows, Take
from kgdash.engine.form import Panels, candidate_panels
from kgdash.engine.kernels import Masks
from kgdash.engine.tasks import sorted_masks
from kgdash.files.memory import block_bytes
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, silent, stretch
from kgdash.scoring import Scorer, score_rows


@dataclass(frozen=True)
class BlockRows:
    """As `kgdash.engine.discovery.RelationRows`, for models without a form.

    ``columns``: the candidates, ids in ascending order; None: all entities.
    """

    scorer: Scorer
    side: str
    relation: int
    anchors: np.ndarray
    masks: Masks
    columns: np.ndarray | None

    def normalisers(
        self, beta: float, progress: Progress = silent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's greatest score, and log Σ exp(β s) over its scores s."""
        high, total = np.empty(len(self.anchors)), np.empty(len(self.anchors))
        for start, stop, scores in self._blocks(progress):
            top = np.fmax.reduce(scores, axis=1, initial=-np.inf)
            with np.errstate(invalid="ignore"):
                weight = np.exp(beta * (scores - top[:, None]))
            high[start:stop], total[start:stop] = top, np.nansum(weight, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return high, beta * high + np.log(total)

    def above(self, bounds: Bounds, take: Take, progress: Progress = silent) -> None:
        """Hand on all scores that reach a bound, in parts."""
        for start, stop, scores in self._blocks(progress):
            row, column = np.nonzero(scores >= bounds(start, stop)[:, None])
            take(start + row, column, scores[row, column])

    def _blocks(self, progress: Progress) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield rows from … to with their scores, float64, NaN where a candidate is left out."""
        step = max(1, block_bytes() // (16 * self.scorer.num_entities))
        for start in range(0, len(self.anchors), step):
            anchors = self.anchors[start : start + step]
            pair = (anchors, np.full(len(anchors), self.relation))
            queries = np.stack(pair if self.side == "tail" else pair[::-1], axis=1)
            stop = start + len(anchors)
            report = stretch(progress, start, stop, len(self.anchors))
            rows = score_rows(self.scorer, self.side, queries, report)
            scores = rows.detach().to("cpu", torch.float64).numpy().copy()
            scores = scores if self.columns is None else scores[:, self.columns]
            starts = self.masks.starts[start : stop + 1]
            row = np.repeat(np.arange(len(anchors)), np.diff(starts))
            scores[row, self.masks.columns[starts[0] : starts[-1]]] = np.nan
            yield start, stop, scores
            report(1, 1)


class UnknownScores:
    """The scores of all triples that are not known."""

    def __init__(self, scorer: Scorer, known: KnownTriples) -> None:
        """Ask a model of the triples that are not ``known``."""
        self._scorer, self._known = scorer, known
        self._panels: dict[str, Panels] = {}

    def rows(
        self, side: str, relation: int, anchors: np.ndarray, columns: np.ndarray | None = None
    ) -> RelationRows | BlockRows:
        """Return a relation's queries with one side open.

        :param anchors: int64 ids, ``(rows,)``
        :param columns: the only candidates, ids in ascending order; None: all entities
        """
        query = np.full((len(anchors), 3), relation, dtype=np.int64)
        query[:, 0 if side == "tail" else 2] = anchors
        owner, answer = self._known.known_answers(query, side)
        if columns is not None:
            inside = np.isin(answer, columns)
            owner, answer = owner[inside], np.searchsorted(columns, answer[inside])
        masks = sorted_masks(owner, answer, len(anchors))
        form = self._scorer.form
        if form is None or form.device.type != "cpu":
            return BlockRows(self._scorer, side, relation, anchors, masks, columns)
        return RelationRows(
            form, side, relation, anchors, masks, self._laid_out(side, relation, columns)
        )

    def as_heads(self, triples: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Score triples, ``(n, 3)``, as candidates for the head: float64, ``(n,)``.

        :param score: theirs as candidates for the tail
        """
        form = self._scorer.form
        if form is not None and form.one_function and form.device.type == "cpu":
            return score.astype(np.float64)
        found = self._scorer.score_triples(torch.from_numpy(triples), "head")
        return found.detach().to("cpu", torch.float64).numpy()

    def _laid_out(self, side: str, relation: int, columns: np.ndarray | None) -> Panels:
        """Return the candidates' panels; what is the same under every relation is kept."""
        form = self._scorer.form
        assert form is not None
        if columns is not None or not form.is_fixed(side):
            return candidate_panels(form, side, relation, columns)
        if side not in self._panels:
            self._panels[side] = candidate_panels(form, side, 0)
        return self._panels[side]
