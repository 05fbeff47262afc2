"""Intermediate entities of queries as the model finds them: a beam of its best ones.

Defined in numbers.md#8-queries. After CQD-Beam (Arakelyan et al., "Complex Query Answering with
Neural Link Predictors", ICLR 2021), whose t-norm is the product here: log-softmax scores are
summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from kgdash.errors import KgdashError, check_name
from kgdash.scoring import Scorer
from kgdash.scoring.protocol import score_rows
from kgdash.studies.queries.paths import Reached, merge_branches
from kgdash.studies.queries.query_types import QueryType

#: where the entities between anchors and answer come from
INTERMEDIATES = ("graph", "model")

#: sums of entities in memory at once, 8 bytes each
_AT_ONCE = 2**23


@dataclass(frozen=True)
class Beam:
    """Searches intermediate entities with a model.

    After every step the ``width`` best entities are kept. A step from entity e by relation r to
    entity x has the log-softmax of the model's scores of (e, r, ·) at x, taken over all entities;
    of (·, r, e) where r is followed backwards. An entity counts the sum over its steps, by its best
    path alone; where branches meet, the sum over the branches ("and") or that of the better one
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

    def reach(self, kind: QueryType, anchors: np.ndarray, relations: np.ndarray) -> list[Reached]:
        """Find the entities from which the last relations lead to the answers.

        :param kind: type of the queries
        :param anchors: int64, shape ``(n, branches)``
        :param relations: int64, shape ``(n, kind.num_relations)``
        :return: one for each of ``kind.last_columns``; each entity is reached by one path
        :raises KgdashError: if a score is NaN
        """
        width = self.scorer.num_entities
        starts = [_Best(Reached.at_anchors(a, width), np.zeros(len(a))) for a in anchors.T]
        branches = list(zip(starts, kind.branch_columns, strict=True))
        if not kind.after:
            return [self._walk(s, relations, columns[:-1]).reached for s, columns in branches]
        before = [
            (self._walk(start, relations, columns[:-1]), relations[:, columns[-1]])
            for start, columns in branches
        ]
        met = self._meet(kind, before)
        return [self._walk(met, relations, kind.after_columns[:-1]).reached]

    def _walk(self, best: _Best, relations: np.ndarray, columns: Sequence[int]) -> _Best:
        for column in columns:
            best = self._step(best, relations[:, column])
        return best

    def _step(self, best: _Best, relations: np.ndarray) -> _Best:
        sums, previous = self._ahead(best, relations)
        values, entities = sums.topk(min(self.width, sums.shape[1]))
        keys, place = _keys(entities, best.reached.width), best.places(previous.gather(1, entities))
        of = np.repeat(relations, entities.shape[1])
        return _Best(Reached.by_edges(best.reached, place, of, keys), _by_key(values, keys))

    def _meet(self, kind: QueryType, branches: list[tuple[_Best, np.ndarray]]) -> _Best:
        ahead = [self._ahead(best, relations) for best, relations in branches]
        sums = torch.stack([of for of, _ in ahead])
        total = sums.amax(0) if kind.join == "or" else sums.sum(0)
        values, entities = total.topk(min(self.width, total.shape[1]))
        better = sums.argmax(0).gather(1, entities).numpy().reshape(-1)
        keys, parts = _keys(entities, branches[0][0].reached.width), []
        for number, (best, relations) in enumerate(branches):
            taken = (better == number) if kind.join == "or" else np.ones(len(keys), dtype=bool)
            place = best.places(ahead[number][1].gather(1, entities))[taken]
            of = np.repeat(relations, entities.shape[1])[taken]
            parts.append(Reached.by_edges(best.reached, place, of, keys[taken]))
        return _Best(merge_branches(kind, parts), _by_key(values, keys))

    def _ahead(self, best: _Best, relations: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Step to every entity: sums, and positions in the beam before, both ``(n, |E|)``."""
        query, entity = best.reached.query, best.reached.entity
        steps = self._log_softmax(entity, relations[query])
        steps += torch.from_numpy(best.sums)[:, None]
        found = steps.reshape(len(relations), -1, steps.shape[1]).max(dim=1)
        return found.values, found.indices

    def _log_softmax(self, entities: np.ndarray, relations: np.ndarray) -> torch.Tensor:
        count = self.scorer.num_relations
        logs = torch.empty((len(entities), self.scorer.num_entities), dtype=torch.float64)
        for side, rows, first, second in (
            ("tail", relations < count, entities, relations),
            ("head", relations >= count, relations - count, entities),
        ):
            if rows.any():
                scores = score_rows(self.scorer, side, np.column_stack([first, second])[rows])
                # Infinite scores are legal (numbers.md#1-ranks), but not in a softmax.
                finite = scores.detach().cpu().double().clamp(-3e38, 3e38)
                logs[torch.from_numpy(rows)] = torch.log_softmax(finite, dim=1)
        return logs


def beam_for(scorer: Scorer, intermediates: str, width: int = 10) -> Beam | None:
    """Return the beam that one of `INTERMEDIATES` stands for: none for the graph.

    :raises KgdashError: if it is neither, or the width is below 1
    """
    check_name("source of intermediates", intermediates, INTERMEDIATES, "kgdash")
    return Beam(scorer, width) if intermediates == "model" else None


@dataclass(frozen=True)
class _Best:
    """The beams of queries: equally many entities of each, and their sums, ``(m,)`` float64."""

    reached: Reached
    sums: np.ndarray

    def places(self, within: torch.Tensor) -> np.ndarray:
        """Turn positions within each query's beam, ``(n, k)``, into positions in ``reached``."""
        each = len(self.sums) // max(len(within), 1)
        return (within + each * torch.arange(len(within))[:, None]).numpy().reshape(-1)


def _keys(entities: torch.Tensor, width: int) -> np.ndarray:
    return (entities + width * torch.arange(len(entities))[:, None]).numpy().reshape(-1)


def _by_key(sums: torch.Tensor, keys: np.ndarray) -> np.ndarray:
    return sums.numpy().reshape(-1)[np.argsort(keys)]
