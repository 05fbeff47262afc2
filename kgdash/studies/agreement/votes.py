"""What several runs make of the same queries together: the overlap of their answers, and votes.

Defined in numbers.md#25-agreement-of-runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from kgdash.studies.agreement.top_answers import TopAnswers

#: candidates of each run that have a vote: those up to this rank
VOTING = 100

#: sums of reciprocal ranks that differ by less are equal
_EQUAL = 1e-12

#: runs from which there are two votes of two runs each to compare
FEWEST_VOTES = 4


class Ballots:
    """The first answers of several runs to the same queries, laid side by side."""

    def __init__(self, lists: Sequence[TopAnswers], answers: np.ndarray, entities: int) -> None:
        """Join the lists of all runs.

        :param lists: of each run, up to rank `VOTING`
        :param answers: the true answer of each query: int64, ``(n,)``
        :param entities: how many there are
        """
        keys = [part.owner * entities + part.entity for part in lists]
        every, place = np.unique(np.concatenate(keys), return_inverse=True)
        self._count = len(answers)
        self._owner = every // entities
        self._ranks = np.full((len(every), len(lists)), np.inf)
        ends = np.cumsum([0, *(len(part.owner) for part in lists)])
        for run, part in enumerate(lists):
            self._ranks[place[ends[run] : ends[run + 1]], run] = part.rank
        own = np.arange(self._count) * entities + answers
        at = np.minimum(np.searchsorted(every, own), max(len(every) - 1, 0))
        self._named = every[at] == own if len(every) else np.zeros(self._count, dtype=bool)
        self._own = at

    def overlap(self, k: int) -> np.ndarray:
        """Return the mean Jaccard index of two runs' answers up to rank k, over pairs of runs.

        :return: float64 in [0, 1], ``(n,)``; NaN where no run has any
        """
        inside = self._ranks <= k
        total, pairs = np.zeros(self._count), np.zeros(self._count)
        for a, b in combinations(range(inside.shape[1]), 2):
            both = self._sum(inside[:, a] & inside[:, b])
            either = self._sum(inside[:, a] | inside[:, b])
            some = either > 0
            total[some] += both[some] / either[some]
            pairs += some
        with np.errstate(invalid="ignore"):
            return total / pairs

    def vote_rank(self, runs: Sequence[int]) -> np.ndarray:
        """Rank the true answers among the candidates by the mean reciprocal rank of some runs.

        Candidates beyond rank `VOTING` of a run have 0 from it.

        :return: realistic rank, float64, ``(n,)``; inf where no run names the true answer
        """
        score = (1 / self._ranks[:, list(runs)]).sum(axis=1)
        own = np.where(self._named, score[self._own], 0.0) if len(score) else np.zeros(self._count)
        ahead = score - own[self._owner]
        greater = self._sum(ahead > _EQUAL)
        equal = self._sum(np.abs(ahead) <= _EQUAL) - 1
        return np.where(own > 0, greater + equal / 2 + 1, np.inf)

    def vote_conflict(self, k: int) -> np.ndarray:
        """Return in which share of the ways to divide the runs two votes disagree on rank ≤ k.

        :return: float64 in [0, 1], ``(n,)``; NaN for fewer than four runs
        """
        if self._ranks.shape[1] < FEWEST_VOTES:
            return np.full(self._count, np.nan)
        ways = halves(self._ranks.shape[1])
        hit = {half: self.vote_rank(half) <= k for way in ways for half in way}
        return np.mean([hit[a] != hit[b] for a, b in ways], axis=0)

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._owner, values, self._count)


def halves(count: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """List the pairs of disjoint halves, ⌊n/2⌋ each, of so many runs.

    >>> halves(3)
    [((0,), (1,)), ((0,), (2,)), ((1,), (2,))]
    """
    parts = list(combinations(range(count), count // 2))
    return [(a, b) for a, b in combinations(parts, 2) if not set(a) & set(b)]
