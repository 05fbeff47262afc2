"""What a rank among sampled negatives is expected to be, from exact counts; and weighted counts.

All functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled

#: outcomes that are less probable than this, beside the most probable one, count as impossible
_LEAST = 1e-18


class Draws(NamedTuple):
    """How negatives are drawn: numbers of two parts, a query's own weights apart.

    ``uniform``: so many without replacement, each as likely; ``weighted``: so many with
    replacement, by weight.
    """

    uniform: int
    weighted: int


class Rivals(NamedTuple):
    """What the true answer of each query competes with. ``(n,)`` each.

    ``better``, ``tied``, ``all``: numbers of rivals, int64; ``better_share``, ``tied_share``: their
    part of all rivals' weight, float64.
    """

    better: np.ndarray
    tied: np.ndarray
    all: np.ndarray
    better_share: np.ndarray
    tied_share: np.ndarray


@compiled
def hypergeometric(good, other, draws, chance):
    """Fill how likely each number of good ones is, among ``draws`` of all without replacement.

    :param chance: filled, float64, ``(≥ draws + 1,)``
    :return: the first and last number that is possible
    """
    low, high = max(0, draws - other), min(draws, good)
    mode = int((draws + 1.0) * (good + 1.0) / (good + other + 2.0))
    mode = min(max(mode, low), high)
    chance[mode] = 1.0
    first, last, total = mode, mode, 1.0
    while last < high:  # in floats: products of large numbers go beyond 64 bits
        step = float(good - last) * (draws - last) / ((last + 1.0) * (other - draws + last + 1.0))
        value = chance[last] * step
        if value < _LEAST:
            break
        last += 1
        chance[last] = value
        total += value
    while first > low:
        ways = (good - first + 1.0) * (draws - first + 1.0)
        step = float(first) * (other - draws + first) / ways
        value = chance[first] * step
        if value < _LEAST:
            break
        first -= 1
        chance[first] = value
        total += value
    for x in range(first, last + 1):
        chance[x] /= total
    return first, last


@compiled
def at_most(seen, good, everyone, draws, found):
    """Fill how likely it is that at most so many good ones are among some without replacement.

    :param seen: how many, int64, ``(n,)``; as ``good`` and ``draws``, of ``everyone``
    :param found: filled, float64, ``(n,)``, in [0, 1]
    """
    chance = np.empty(draws.max() + 1)
    for i in range(len(seen)):
        first, last = hypergeometric(good[i], everyone[i] - good[i], draws[i], chance)
        found[i] = chance[first : min(seen[i], last) + 1].sum() if seen[i] >= first else 0.0


@compiled
def binomial(draws, share, chance):
    """As `hypergeometric`, with replacement: each draw is good with probability ``share``."""
    if share <= 0.0 or share >= 1.0:
        sure = 0 if share <= 0.0 else draws
        chance[sure] = 1.0
        return sure, sure
    mode = min(int((draws + 1) * share), draws)
    odds = share / (1.0 - share)
    chance[mode] = 1.0
    first, last, total = mode, mode, 1.0
    while last < draws:
        value = chance[last] * odds * (draws - last) / (last + 1.0)
        if value < _LEAST:
            break
        last += 1
        chance[last] = value
        total += value
    while first > 0:
        value = chance[first] / odds * first / (draws - first + 1.0)
        if value < _LEAST:
            break
        first -= 1
        chance[first] = value
        total += value
    for x in range(first, last + 1):
        chance[x] /= total
    return first, last


@compiled
def _halves(rivals, at, draws, weighted, room, halves):
    """Fill how likely 2 · better + tied is of one part of the draws, which a rank exceeds by half.

    :param weighted: whether draws are by weight
    :param room: two of float64, ``(≥ draws + 1,)``
    :param halves: filled, float64, ``(≥ 2 draws + 1,)``
    :return: the first and last value that is possible
    """
    worse, better = room
    good, tied, everyone = rivals.better[at], rivals.tied[at], rivals.all[at]
    share, tied_share = rivals.better_share[at], rivals.tied_share[at]
    both = min(share + tied_share, 1.0)
    if weighted:
        first, last = binomial(draws, both, worse)
    else:
        first, last = hypergeometric(good + tied, everyone - good - tied, draws, worse)
    halves[first : 2 * last + 1] = 0.0
    low, high = 2 * last, first
    for drawn in range(first, last + 1):
        if weighted:
            start, stop = binomial(drawn, share / both if both > 0 else 0.0, better)
        else:
            start, stop = hypergeometric(good, tied, drawn, better)
        for x in range(start, stop + 1):
            halves[drawn + x] += worse[drawn] * better[x]
        low, high = min(low, drawn + start), max(high, drawn + stop)
    return low, high


@compiled
def expect(rivals, draws, ks, correct, moments):
    """Sum up what a sampled rank, and one corrected by its sample's size, give on average.

    The realistic rank among sampled negatives is 1 + better + tied / 2. The corrected one is
    1 + (better + tied / 2) · rivals / draws.

    :param rivals: `Rivals`; ``draws``: `Draws`
    :param ks: of Hits@k, float64, ``(m,)``
    :param correct: whether corrected ones are summed up too
    :param moments: filled, float64, ``(n, 2, 2 + m, 2)``: of the sampled and of the corrected rank:
        of 1 / rank, rank and each [rank ≤ k] the expectation, and that of the square
    """
    most = draws.uniform + draws.weighted
    room = np.empty(most + 1), np.empty(most + 1)
    one, two = np.empty(2 * most + 1), np.empty(2 * most + 1)
    together = np.empty(2 * most + 1)
    for at in range(len(rivals.better)):
        moments[at] = 0.0
        uniform = min(draws.uniform, rivals.all[at])
        weighted = draws.weighted if rivals.all[at] else 0
        first, last = _halves(rivals, at, uniform, False, room, one)
        if weighted:
            start, stop = _halves(rivals, at, weighted, True, room, two)
            together[first + start : last + stop + 1] = 0.0
            for x in range(first, last + 1):
                for y in range(start, stop + 1):
                    together[x + y] += one[x] * two[y]
            first, last = first + start, last + stop
        else:
            together[first : last + 1] = one[first : last + 1]
        scale = rivals.all[at] / uniform if uniform else 1.0
        for way in range(2 if correct else 1):
            for half in range(first, last + 1):
                chance = together[half]
                rank = 1.0 + half / 2.0 * (scale if way else 1.0)
                moments[at, way, 0, 0] += chance / rank
                moments[at, way, 0, 1] += chance / (rank * rank)
                moments[at, way, 1, 0] += chance * rank
                moments[at, way, 1, 1] += chance * rank * rank
                for k in range(len(ks)):
                    if rank <= ks[k]:
                        moments[at, way, 2 + k, 0] += chance
                        moments[at, way, 2 + k, 1] += chance


class Answers(NamedTuple):
    """Which answers ask each row, and what entities weigh.

    ``starts``, ``order``: triples of each row, int64; ``own``: each triple's score, ``(n,)``;
    ``weights``: of entities, int64; ``typed_starts``, ``typed``: the entities of each row's type,
    int64.
    """

    starts: np.ndarray
    order: np.ndarray
    own: np.ndarray
    weights: np.ndarray
    typed_starts: np.ndarray
    typed: np.ndarray


@compiled
def gather_rivals(rows, first, kinds, answers, counts):
    """Count whole rows' rivals: those that beat and tie with each answer, and all, in three ways.

    :param rows: ``(rows, |E|)``, NaN where a candidate is left out; ``first``: the first's number
    :param kinds: the type of each row, int64
    :param answers: `Answers`
    :param counts: added to, int64, ``(n, 3, 3)``: better, tied, all, each by number, weight, type
    """
    for i in range(rows.shape[0]):
        kind = kinds[first + i]
        for place in range(answers.starts[first + i], answers.starts[first + i + 1]):
            at = answers.order[place]
            score = answers.own[at]
            for j in range(rows.shape[1]):
                value = rows[i, j]
                if value == value:
                    weight = answers.weights[j]
                    better, tied = np.int64(value > score), np.int64(value == score)
                    counts[at, 0, 0] += better
                    counts[at, 1, 0] += tied
                    counts[at, 2, 0] += 1
                    counts[at, 0, 1] += better * weight
                    counts[at, 1, 1] += tied * weight
                    counts[at, 2, 1] += weight
            for place_of_type in range(answers.typed_starts[kind], answers.typed_starts[kind + 1]):
                value = rows[i, answers.typed[place_of_type]]
                counts[at, 0, 2] += value > score
                counts[at, 1, 2] += value == score
                counts[at, 2, 2] += value == value
