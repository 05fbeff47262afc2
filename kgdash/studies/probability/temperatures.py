"""Inverse temperatures β by least mean −log p(true answer), for groups of queries at once.

Defined in numbers.md#23-probabilities. The loss is convex in β: with E and Var of the score under
softmax, its slope is mean(E − s_true) and its curvature mean(Var). Each pass over the scores takes
one step of Newton's method for every group, kept inside what is known to hold the minimum. Guo,
Pleiss, Sun and Weinberger, "On calibration of modern neural networks", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgdash.progress import Progress, phases, silent
from kgdash.studies.probability.answer_queries import AnswerQueries, Softmax, softmax

#: what a step must promise to take off the mean −log p, for another one to follow: that would
#: promise about its square
_GAIN = 1e-4

#: β of a model is looked for between these, and that of a group within a factor of the model's:
#: where all true answers win, the loss has no minimum
_BOUNDS, _FACTOR = (2.0**-24, 2.0**24), 16.0

#: most that one step multiplies β by, and steps at most
_LEAP, _STEPS = 4.0, 24

#: most that β may be off for `Softmax.normaliser_at`, times the deviation of the score
_NEAR = 0.05

#: triples of each side that the search for the model's β begins with, and goes on with
_SAMPLES = (128, 2048)

#: of each side, the group of each triple: int64, ``(n,)``, from 0; -1 for none; equal within a row
Groups = list[np.ndarray]


@dataclass
class _Search:
    """The β of some groups, between two ends, and where each one's minimum is known to lie.

    ``latest``: the softmax of each side's triples at the last β that was tried.
    """

    groups: Groups
    beta: np.ndarray
    ends: tuple[float, float]

    def __post_init__(self) -> None:
        self.low, self.high = np.zeros(len(self.beta)), np.full(len(self.beta), np.inf)
        codes = np.concatenate(self.groups)
        self.queries = np.bincount(codes[codes >= 0], minlength=len(self.beta))
        self.is_open = self.queries > 0
        self.latest = [Softmax.of_nothing(len(codes)) for codes in self.groups]

    @classmethod
    def around(cls, groups: Groups, start: float, factor: float) -> _Search:
        count = 1 + max(int(codes.max(initial=-1)) for codes in groups)
        return cls(groups, np.full(count, start), (start / factor, start * factor))

    def step(self, slope: np.ndarray, curvature: np.ndarray) -> None:
        """Take Newton's step where the search goes on, or halve what holds the minimum."""
        tied = self.is_open & (curvature <= 0) & (slope == 0)
        self.beta[tied], self.is_open[tied] = 1.0, False
        self.low = np.where(slope < 0, self.beta, self.low)
        self.high = np.where(slope > 0, self.beta, self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = self.beta - slope / curvature
            gain = slope**2 / curvature / 2  # Newton's decrement
        new = np.where(np.isnan(new), self.beta, new)
        new = np.clip(new, self.beta / _LEAP, self.beta * _LEAP).clip(*self.ends)
        moves = new != self.beta
        passed = moves & ((new <= self.low) | (new >= self.high))
        new[passed] = np.sqrt(self.low[passed] * self.high[passed])
        going = self.is_open & moves & ~(gain <= _GAIN * self.queries)
        self.beta = np.where(self.is_open, new, self.beta)
        self.is_open = going


def fit_betas(
    sides: list[AnswerQueries], groupings: list[Groups], progress: Progress = silent
) -> tuple[list[np.ndarray], list[Softmax]]:
    """Fit a β for each group of queries, of several groupings together.

    :param sides: queries whose true answers are known, of one or both sides
    :param groupings: from coarse to fine; the first one has a group for each query
    :return: for each grouping: β > 0, float64, ``(groups,)``; 1 where all scores of a group tie.
        And of each side, softmax near the β of each query's last group
    """
    start, factor = 1.0, _BOUNDS[1]
    for size in _SAMPLES:
        some = [side.some(_even(len(side.triples), size)) for side in sides]
        first = _Search.around([np.zeros(len(s.triples), np.int64) for s in some], start, factor)
        _newton(some, [first])
        start, factor = float(first.beta[0]), _FACTOR
    searches = [_Search.around(groups, start, factor) for groups in groupings]
    _newton(sides, searches, progress)
    near = [_latest(side, at, searches) for at, side in enumerate(sides)]
    return [search.beta for search in searches], near


def _latest(side: AnswerQueries, at: int, searches: list[_Search]) -> Softmax:
    """Return softmax near the β of each query's last group, found again where it ended far off."""
    near, beta = Softmax.of_nothing(len(side.triples)), np.ones(len(side.triples))
    for search in searches:
        own = search.groups[at] >= 0
        beta[own] = search.beta[search.groups[at][own]]
        near.put(own, search.latest[at].some(own))
    far = np.abs(beta - near.beta) * np.sqrt(near.variance) > _NEAR
    if far.any():
        near.put(far, softmax(side.some(far), [beta[far]])[0])
    return near


def _even(count: int, size: int) -> np.ndarray:
    """Choose about as many of some triples as wished: bool, ``(count,)``."""
    chosen = np.zeros(count, dtype=bool)
    chosen[:: max(1, count // size)] = True
    return chosen


def _newton(
    sides: list[AnswerQueries], searches: list[_Search], progress: Progress = silent
) -> None:
    for number in range(_STEPS):
        going = [search for search in searches if search.is_open.any()]
        if not going:
            break
        sums = [np.zeros((2, len(search.beta))) for search in going]
        # How many steps there will be is not known: each is taken for half of what is left.
        reports = phases(_part(progress, number), [1.0] * len(sides))
        for at, (side, report) in enumerate(zip(sides, reports, strict=True)):
            _add_slopes(side, at, going, sums, report)
        for search, (slope, curvature) in zip(going, sums, strict=True):
            search.step(slope, curvature)
    progress(1.0, 1.0)


def _add_slopes(
    side: AnswerQueries,
    at: int,
    searches: list[_Search],
    sums: list[np.ndarray],
    progress: Progress,
) -> None:
    """Add up slope and curvature of all groups that are searched, in one pass over the scores."""
    inside = [(s.groups[at] >= 0) & s.is_open[s.groups[at]] for s in searches]
    chosen = np.logical_or.reduce(inside)
    if not chosen.any():
        return
    betas = [
        np.where(own, search.beta[search.groups[at]], search.beta[0])[chosen]
        for search, own in zip(searches, inside, strict=True)
    ]
    # At first all groupings have one and the same.
    different = [k for k, beta in enumerate(betas) if not np.array_equal(beta, betas[0])]
    found = softmax(side.some(chosen), [betas[k] for k in (0, *different)], progress)
    for k, (search, own) in enumerate(zip(searches, inside, strict=True)):
        soft = found[1 + different.index(k)] if k in different else found[0]
        mine, count = own[chosen], len(search.beta)
        codes = search.groups[at][chosen][mine]
        search.latest[at].put(own, soft.some(mine))
        sums[k][0] += np.bincount(codes, (soft.mean - soft.own)[mine], count)
        sums[k][1] += np.bincount(codes, soft.variance[mine], count)


def _part(progress: Progress, number: int) -> Progress:
    """Report a step as half of what the steps before it left."""
    before, share = 1 - 0.5**number, 0.5 ** (number + 1)
    return lambda done, total: progress(before + share * done / max(total, 1e-9), 1.0)
