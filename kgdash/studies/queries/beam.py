"""Intermediate entities of queries as the model finds them: a beam of its best ones.

Defined in numbers.md#8-queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from kgdash.errors import KgdashError, unknown_name
from kgdash.scoring import Scorer
from kgdash.scoring.protocol import score_rows
from kgdash.studies.queries.chains import Ends, join
from kgdash.studies.queries.query_types import QueryType

#: where the entities between anchors and answer come from
INTERMEDIATES = ("graph", "model")

#: figures of entities held at once, 8 bytes each
_AT_ONCE = 2**23


@dataclass(frozen=True)
class Beam:
    """Searches intermediate entities with a model.

    After every step the ``width`` best entities are kept. A step from entity e by relation r to
    entity x has the log-softmax of the model's scores of (e, r, ·) at x, taken over all entities;
    of (·, r, e) where r is followed backwards. An entity counts the sum over its steps, by its best
    way alone; where branches meet, the sum over the branches ("and") or that of the better one
    ("or").
    """

    scorer: Scorer
    width: int = 10

    def __post_init__(self) -> None:
        """Check the width.

        :raises KgdashError: if it is below 1
        """
        if self.width < 1:
            raise KgdashError(f"a beam keeps at least one entity; found a width of {self.width}")

    @property
    def queries_at_once(self) -> int:
        """Return how many queries fit the memory that one step may take."""
        return max(1, _AT_ONCE // (self.scorer.num_entities * self.width))

    def reach(self, kind: QueryType, anchors: np.ndarray, relations: np.ndarray) -> list[Ends]:
        """Find the entities from which the last relations lead to the answers.

        :param anchors: int64, shape ``(n, branches)``
        :param relations: int64, shape ``(n, kind.num_relations)``
        :return: one for each of ``kind.last_columns``; each entity is reached in one way
        :raises KgdashError: if a score is NaN
        """
        width = self.scorer.num_entities
        starts = [_Kept(Ends.of_anchors(a, width), np.zeros(len(a))) for a in anchors.T]
        branches = list(zip(starts, kind.branch_columns, strict=True))
        if not kind.after:
            return [self._walk(s, relations, columns[:-1]).ends for s, columns in branches]
        before = [
            (self._walk(start, relations, columns[:-1]), relations[:, columns[-1]])
            for start, columns in branches
        ]
        met = self._meet(kind, before)
        return [self._walk(met, relations, kind.after_columns[:-1]).ends]

    def _walk(self, kept: _Kept, relations: np.ndarray, columns: Sequence[int]) -> _Kept:
        for column in columns:
            kept = self._step(kept, relations[:, column])
        return kept

    def _step(self, kept: _Kept, relations: np.ndarray) -> _Kept:
        figures, way = self._ahead(kept, relations)
        best, entities = figures.topk(min(self.width, figures.shape[1]))
        keys, place = _keys(entities, kept.ends.width), kept.places(way.gather(1, entities))
        of = np.repeat(relations, entities.shape[1])
        return _Kept(Ends.by_edges(kept.ends, place, of, keys), _by_key(best, keys))

    def _meet(self, kind: QueryType, branches: list[tuple[_Kept, np.ndarray]]) -> _Kept:
        ahead = [self._ahead(kept, relations) for kept, relations in branches]
        figures = torch.stack([of for of, _ in ahead])
        total = figures.amax(0) if kind.join == "or" else figures.sum(0)
        best, entities = total.topk(min(self.width, total.shape[1]))
        better = figures.argmax(0).gather(1, entities).numpy().reshape(-1)
        keys, parts = _keys(entities, branches[0][0].ends.width), []
        for number, ((kept, relations), (_, way)) in enumerate(zip(branches, ahead, strict=True)):
            taken = (better == number) if kind.join == "or" else np.ones(len(keys), dtype=bool)
            place = kept.places(way.gather(1, entities))[taken]
            of = np.repeat(relations, entities.shape[1])[taken]
            parts.append(Ends.by_edges(kept.ends, place, of, keys[taken]))
        return _Kept(join(kind, parts), _by_key(best, keys))

    def _ahead(self, kept: _Kept, relations: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Take a step to every entity: figures and best ways there, both ``(n, |E|)``."""
        query, entity = kept.ends.query, kept.ends.entity
        steps = self._log_shares(entity, relations[query])
        steps += torch.from_numpy(kept.figures)[:, None]
        found = steps.reshape(len(relations), -1, steps.shape[1]).max(dim=1)
        return found.values, found.indices

    def _log_shares(self, entities: np.ndarray, relations: np.ndarray) -> torch.Tensor:
        count = self.scorer.num_relations
        shares = torch.empty((len(entities), self.scorer.num_entities), dtype=torch.float64)
        for side, rows, first, second in (
            ("tail", relations < count, entities, relations),
            ("head", relations >= count, relations - count, entities),
        ):
            if rows.any():
                scores = score_rows(self.scorer, side, np.column_stack([first, second])[rows])
                # Infinite scores are legal (numbers.md#1-ranks), but not in a softmax.
                finite = scores.detach().cpu().double().clamp(-3e38, 3e38)
                shares[torch.from_numpy(rows)] = torch.log_softmax(finite, dim=1)
        return shares


def beam_for(scorer: Scorer, intermediates: str, width: int = 10) -> Beam | None:
    """Return the beam that one of `INTERMEDIATES` stands for: none for the graph.

    :raises KgdashError: if it is neither, or the width is below 1
    """
    if intermediates not in INTERMEDIATES:
        raise unknown_name("source of intermediates", intermediates, INTERMEDIATES, "kgdash")
    return Beam(scorer, width) if intermediates == "model" else None


@dataclass(frozen=True)
class _Kept:
    """The beams of queries: equally many ends of each, and their figures, ``(m,)`` float64."""

    ends: Ends
    figures: np.ndarray

    def places(self, ways: torch.Tensor) -> np.ndarray:
        """Turn positions within each query's beam, ``(n, k)``, into positions in ``ends``."""
        each = len(self.figures) // max(len(ways), 1)
        return (ways + each * torch.arange(len(ways))[:, None]).numpy().reshape(-1)


def _keys(entities: torch.Tensor, width: int) -> np.ndarray:
    return (entities + width * torch.arange(len(entities))[:, None]).numpy().reshape(-1)


def _by_key(figures: torch.Tensor, keys: np.ndarray) -> np.ndarray:
    return figures.numpy().reshape(-1)[np.argsort(keys)]
