"""Scores → table of head and tail ranks among negatives → ReliK (numbers.md#4-relik): exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from kgdash.engine.counting import count_both_sides
from kgdash.engine.counting import count_negatives as count_by_form
from kgdash.engine.memory import block_bytes, memory_budget
from kgdash.engine.row_counting import count_against
from kgdash.graph.known_triples import RANK_TYPES, KnownTriples
from kgdash.graph.sorted_slices import expand_slices
from kgdash.progress import Progress, phases, silent
from kgdash.scoring import ENTITY_SIDES, Scorer, score_rows

#: how many scores counted on one side cost as much as one that is counted on both
_BOTH_COST = 1.6


@dataclass(frozen=True)
class SideCounts:
    """What one side of ReliK rests on, one entry per triple, all int64 of shape ``(n,)``.

    ``greater`` and ``equal``: negatives y ≠ x with s(y) > s(x) and s(y) = s(x); ``negatives``:
    |N⁻|, which counts x itself where x is not a known triple.
    """

    greater: np.ndarray
    equal: np.ndarray
    negatives: np.ndarray

    def rank(self, rank_type: str = "optimistic") -> np.ndarray:
        """Return the rank among the negatives: float64, ≥ 1; "optimistic" is the paper's."""
        share = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[rank_type]
        return 1.0 + self.greater + share * self.equal


def relik_exact(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, progress: Progress = silent
) -> pd.DataFrame:
    """Compute ReliK's ranks exactly, by the definition of numbers.md#4-relik.

    The |R|·|E| scores of an anchor (the head, then the tail) are computed once for all its triples.

    :param scorer: the model
    :param triples: int64, shape ``(n, 3)``; they may be known triples or not
    :param known: F, the triples that are no negatives
    :param progress: called with (done, total)
    :return: one row per triple, in the given order: ``head, relation, tail`` (ids) and for side in
        head, tail: ``{side}_greater, {side}_equal, {side}_negatives`` (int64, see `SideCounts`)
    :raises KgdashError: if a score is NaN
    """
    table = pd.DataFrame(triples, columns=["head", "relation", "tail"])
    for side, counts in _both_sides(scorer, triples, known, progress):
        table[f"{side}_greater"] = counts.greater
        table[f"{side}_equal"] = counts.equal
        table[f"{side}_negatives"] = counts.negatives
    return table


def _both_sides(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, progress: Progress
) -> Iterator[tuple[str, SideCounts]]:
    form = scorer.form
    anchors = [len(np.unique(triples[:, column])) for column in (0, 2)]
    if (
        form is not None
        and form.one_function
        and form.device.type == "cpu"
        and sum(anchors) > _BOTH_COST * scorer.num_entities
    ):
        both = count_both_sides(form, triples, known, progress)
        for side, (greater, equal) in zip(ENTITY_SIDES, both, strict=True):
            negatives = _population(scorer, triples, known, side)
            yield side, SideCounts(greater, equal, negatives)
        return
    reports = phases(progress, [float(count) for count in anchors])
    for side, report in zip(ENTITY_SIDES, reports, strict=True):
        yield side, count_negatives(scorer, triples, known, side, report)


def relik_values(counts: pd.DataFrame, rank_type: str = "optimistic") -> pd.DataFrame:
    """Turn the counts of `relik_exact` into ranks and ReliK = ½ (1/rank_H + 1/rank_T).

    Defined in numbers.md#4-relik.

    :param counts: a table of `relik_exact`
    :param rank_type: how ties count: "optimistic" (the paper's strict inequality), "realistic",
        "pessimistic"
    :return: ``head, relation, tail`` (ids), ``head_rank``, ``tail_rank`` (int64; float64 for
        realistic), ``relik`` (float64 in (0, 1])
    """
    if rank_type not in RANK_TYPES:
        raise ValueError(f"expected a rank type out of {RANK_TYPES}; found {rank_type!r}")
    table = counts[["head", "relation", "tail"]].copy()
    for side in ENTITY_SIDES:
        columns = (counts[f"{side}_{c}"].to_numpy() for c in ("greater", "equal", "negatives"))
        rank = SideCounts(*columns).rank(rank_type)
        table[f"{side}_rank"] = rank if rank_type == "realistic" else rank.astype(np.int64)
    table["relik"] = 0.5 * (1.0 / table["head_rank"] + 1.0 / table["tail_rank"])
    return table


def count_negatives(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples,
    side: str,
    progress: Progress = silent,
) -> SideCounts:
    """Count the negatives that share the head (or tail) and score higher than, or as, each triple.

    :param side: "head" for N⁻(h), "tail" for N⁻(t)
    """
    if scorer.form is not None:
        greater, equal = count_by_form(scorer.form, triples, known, side, progress, memory_budget())
        return SideCounts(greater, equal, _population(scorer, triples, known, side))
    return _count_in_rows(scorer, triples, known, side, progress)


def _population(scorer: Scorer, triples: np.ndarray, known: KnownTriples, side: str) -> np.ndarray:
    """Count the negatives around each triple's head (or tail): int64, ``(n,)``."""
    anchors, group = np.unique(triples[:, 0 if side == "head" else 2], return_inverse=True)
    owner, _ = known.around(anchors, side)
    everything = scorer.num_entities * scorer.num_relations
    return everything - np.bincount(owner, minlength=len(anchors))[group]


def _count_in_rows(
    scorer: Scorer, triples: np.ndarray, known: KnownTriples, side: str, progress: Progress
) -> SideCounts:
    """Count as `count_negatives`, out of rows of scores that the scorer gives."""
    anchor_of, other_of = (triples[:, 0], triples[:, 2])[:: 1 if side == "head" else -1]
    num_entities, num_relations = scorer.num_entities, scorer.num_relations
    anchors, group = np.unique(anchor_of, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    counts = np.zeros((len(triples), 2), dtype=np.int64)
    negatives = _population(scorer, triples, known, side)
    position = triples[:, 1] * num_entities + other_of
    for block in _anchor_blocks(len(anchors), num_entities * num_relations):
        rows = order[slice(*np.searchsorted(ordered, [block.start, block.stop]))]
        own_row = group[rows] - block.start
        owner, excluded = known.around(anchors[block], side)
        around = _AnchorScores(scorer, side, anchors[block])
        own = around.own(own_row, position[rows])
        for first, scores in around.blocks():
            counts[rows] += count_against(scores, own, own_row)
            counts[rows] -= _count_excluded(
                scores, own, own_row, position[rows], owner, excluded, first
            )
        progress(block.stop, len(anchors))
    return SideCounts(counts[:, 0], counts[:, 1], negatives)


def _anchor_blocks(anchors: int, scores_per_anchor: int) -> Iterator[slice]:
    size = max(1, block_bytes() // (4 * scores_per_anchor))
    for start in range(0, anchors, size):
        yield slice(start, min(start + size, anchors))


class _AnchorScores:
    """The scores of all (relation, entity) around some anchors, in blocks of relations.

    The blocks are cut alike each time, so that a score is the same number whenever it is read; the
    latest block is kept, so that what fits into one block is scored once.
    """

    def __init__(self, scorer: Scorer, side: str, anchors: np.ndarray) -> None:
        self.scorer, self.side, self.anchors = scorer, side, anchors
        self.size = max(1, block_bytes() // (4 * scorer.num_entities * len(anchors)))
        self._latest: tuple[int, torch.Tensor] = (-1, torch.empty(0))

    def blocks(self, only: np.ndarray | None = None) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield the position of a block's first candidate and its scores ``(anchors, candidates)``.

        :param only: skip blocks that hold none of these positions, ``relation * |E| + entity``
        """
        width = self.scorer.num_entities
        for start in range(0, self.scorer.num_relations, self.size):
            first, last = start * width, (start + self.size) * width
            if only is None or ((only >= first) & (only < last)).any():
                yield first, self._scores(start)

    def _scores(self, start: int) -> torch.Tensor:
        if self._latest[0] != start:
            relations = np.arange(start, min(start + self.size, self.scorer.num_relations))
            anchor = np.repeat(self.anchors, len(relations))
            relation = np.tile(relations, len(self.anchors))
            columns = (anchor, relation) if self.side == "head" else (relation, anchor)
            candidates = "tail" if self.side == "head" else "head"
            scores = score_rows(self.scorer, candidates, np.stack(columns, axis=1))
            self._latest = start, scores.reshape(len(self.anchors), -1)
        return self._latest[1]

    def own(self, own_row: np.ndarray, position: np.ndarray) -> torch.Tensor:
        """Read each triple's score out of the very block that its negatives are counted in."""
        parts, where = [], []
        for first, scores in self.blocks(only=position):
            inside = np.flatnonzero((position >= first) & (position < first + scores.shape[1]))
            row = torch.from_numpy(own_row[inside]).to(scores.device)
            column = torch.from_numpy(position[inside] - first).to(scores.device)
            parts.append(scores[row, column])
            where.append(inside)
        order = torch.from_numpy(np.argsort(np.concatenate(where)))
        return torch.cat(parts)[order.to(parts[0].device)]


def _count_excluded(
    scores: torch.Tensor,
    own: torch.Tensor,
    own_row: np.ndarray,
    position: np.ndarray,
    owner: np.ndarray,
    excluded: np.ndarray,
    first: int,
) -> np.ndarray:
    """Count what the known triples, and the triple itself, added to a block: int64 ``(n, 2)``.

    :param owner: the anchor's row of each known triple, ascending
    :param excluded: position of each known triple, ``relation * |E| + entity``
    """
    starts = np.searchsorted(owner, np.arange(scores.shape[0] + 1))
    triple, place = expand_slices(starts[own_row], np.diff(starts)[own_row])
    known = excluded[place]
    other = known != position[triple]
    triple = np.concatenate([triple[other], np.arange(len(own_row))])
    column = np.concatenate([known[other], position]) - first
    inside = (column >= 0) & (column < scores.shape[1])
    triple, column = triple[inside], column[inside]
    values = scores[
        torch.from_numpy(own_row[triple]).to(scores.device),
        torch.from_numpy(column).to(scores.device),
    ]
    thresholds = own[torch.from_numpy(triple).to(scores.device)]
    hits = ((values > thresholds).cpu().numpy(), (values == thresholds).cpu().numpy())
    return np.stack([np.bincount(triple[h], minlength=len(own_row)) for h in hits], axis=1)
