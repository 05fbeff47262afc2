"""Sums over the ranks of each group, on each side."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgdash.breakdowns.rank_facts import SINGLE_SIDES
from kgdash.engine.ordering_kernels import pair_slots, stable_order


@dataclass(frozen=True, eq=False)
class GroupedRanks:
    """Ranks, each in a group.

    ``sides``: int8, positions in `SINGLE_SIDES`; ``codes``: int64, numbers of groups; ``triples``:
    int64, the same for the ranks of the same triple; ``groups``: how many there are.
    """

    sides: np.ndarray
    codes: np.ndarray
    triples: np.ndarray
    groups: int

    def sums(self, values: np.ndarray | None = None) -> np.ndarray:
        """Return the sum, or number, of each side's ranks per group: ``(sides, groups)``."""
        size = len(SINGLE_SIDES) * self.groups
        found = np.bincount(self._cells, weights=values, minlength=size)
        return found.reshape(len(SINGLE_SIDES), self.groups)

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the largest of whole numbers ≥ 0, 0 where there is none: ``(sides, groups)``."""
        found = np.zeros(len(SINGLE_SIDES) * self.groups, dtype=np.int64)
        np.maximum.at(found, self._cells, values)
        return found.reshape(len(SINGLE_SIDES), self.groups)

    @cached_property
    def _cells(self) -> np.ndarray:
        return self.sides * np.int64(self.groups) + self.codes


class SideRanks:
    """The ranks of some sides, pooled."""

    def __init__(self, ranks: GroupedRanks, sides: list[int]) -> None:
        """Find them.

        :param sides: positions in `SINGLE_SIDES`
        """
        self._ranks, self.sides = ranks, sides
        at = np.isin(np.arange(len(SINGLE_SIDES)), sides)[ranks.sides]
        #: where they stand; all of them are no copy
        self.at: np.ndarray | slice = slice(None) if at.all() else at

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        codes, triples = self._ranks.codes[self.at], self._ranks.triples[self.at]
        return pair_slots(codes, triples, self._ranks.groups, int(triples.max(initial=0)) + 1)

    @property
    def triples(self) -> np.ndarray:
        """Return the number of triples per group: int64, shape ``(groups,)``."""
        return self._pairs[1]

    def sums_of_triples(self, values: np.ndarray) -> np.ndarray:
        """Return the sum per triple of a group, one group's after the other's: float64."""
        return np.bincount(self._pairs[0], weights=values, minlength=int(self.triples.sum()))

    def positions(self) -> list[np.ndarray]:
        """Return where the ranks of each group stand: int64, of each group."""
        places = np.arange(len(self._ranks.codes))[self.at]
        codes = self._ranks.codes[self.at]
        stops = np.cumsum(np.bincount(codes, minlength=self._ranks.groups))
        return np.split(places[stable_order(codes, self._ranks.groups)], stops[:-1])
