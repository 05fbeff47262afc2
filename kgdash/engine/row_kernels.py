"""Counting one row of scores: how many exceed, and how many equal, each bound of its group."""

from typing import NamedTuple

import numpy as np

from kgdash.engine.comparing_microkernels import (
    PARTS,
    STEP,
    address,
    count_compared,
    count_levels,
    levels_of,
    spread_of,
    sum_of_parts,
)
from kgdash.engine.compiled import compiled, compiled_bare
from kgdash.engine.scoring_kernels import COLUMNS

#: with more bounds within reach, a score looks up its place among them instead of being compared
#: with each
_MANY_BOUNDS = 512


class Bounds(NamedTuple):
    """Groups of bounds that scores are compared with, see `kgdash.engine.bounds`.

    ``values``: float32, each group's in ascending order; ``starts``: where a group's begin, int64,
    ``(groups + 1,)``. Groups of many bounds have a table from a score's bin to its place among
    them: ``bins`` is its size (0: none), ``places`` where it begins in ``table`` (one entry more
    than bins: how many of the group's bounds lie in lower bins), ``scales`` the bins per unit of
    score, float32.
    """

    values: np.ndarray
    starts: np.ndarray
    bins: np.ndarray
    places: np.ndarray
    table: np.ndarray
    scales: np.ndarray


class Counts(NamedTuple):
    """How many scores equal each bound, and how many exceed it, in two parts that `finish` adds up.

    ``above[j]`` scores exceed bound j, and those in ``tally``: of group g, whose entries begin at
    ``starts[g] + g``, entry i counts scores that exceed the group's first i bounds alone. Int64.
    """

    above: np.ndarray
    equal: np.ndarray
    tally: np.ndarray


class Scratch(NamedTuple):
    """What is noted of one row of scores, see `count_levels`.

    ``levels``, int16, of its scores, and ``bounds``, int32, of the bounds within reach; how many
    are ``above`` each, int16, in parts; ``hits``, uint64, of scores on the level of a bound.
    ``crowded``: for how many rows to come levels are not tried, after one where they told little
    apart.
    """

    levels: np.ndarray
    bounds: np.ndarray
    above: np.ndarray
    hits: np.ndarray
    crowded: np.ndarray


@compiled_bare
def filled_up(scores):
    """Return how many places a row of scores is filled up to."""
    return (scores + STEP - 1) // STEP * STEP


@compiled_bare
def lower(values, first, last, value):
    """Find the first index in [first, last) whose value is not below ``value`` (else last)."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


@compiled_bare
def _bin(score, low, scale, bins):
    """Map a score to a bin, never against the order of scores."""
    if not scale > 0:
        return 0
    return int(min((score - low) * scale, np.float32(bins - 1)))


@compiled
def tabulate(bounds):
    """Fill the tables of the groups that have one."""
    for group in range(len(bounds.bins)):
        bins, place = bounds.bins[group], bounds.places[group]
        if bins == 0:
            continue
        first, last = bounds.starts[group], bounds.starts[group + 1]
        low = bounds.values[first]
        reach = bounds.values[last - 1] - low
        # A reach that is nothing or infinite leaves one bin.
        scale = np.float32(bins) / reach if reach > 0 else np.float32(0)
        if not np.isfinite(scale):
            scale = np.float32(0)
        bounds.scales[group] = scale
        index = first
        for number in range(bins):
            while index < last and _bin(bounds.values[index], low, scale, bins) < number:
                index += 1
            bounds.table[place + number] = index - first
        bounds.table[place + bins] = last - first


@compiled
def scratch():
    """Make what `count_scores` writes on: `Scratch`."""
    return Scratch(
        np.empty(COLUMNS, np.int16),
        np.empty(_MANY_BOUNDS, np.int32),
        np.empty(_MANY_BOUNDS * PARTS, np.int16),
        np.empty(COLUMNS // 64, np.uint64),
        np.zeros(1, np.int64),
    )


@compiled_bare
def count_scores(tile, row, width, kept, group, bounds, counts, paper):
    """Count a row's scores against the bounds of its group.

    :param width: scores in the row, a multiple of 128
    :param kept: those that are not NaN
    :param paper: `Scratch`
    """
    values = bounds.values
    first, last = bounds.starts[group], bounds.starts[group + 1]
    scores = np.uintp(address(tile) + row * tile.shape[1] * 4)
    least, most = spread_of(scores, width)
    if not most >= values[first]:
        return
    # Only the bounds that lie among the scores need looking at each of them.
    begin = lower(values, first, last, least)
    end = lower(values, begin, last, most)
    end += end < last and values[end] == most
    number = end - begin
    if number > _MANY_BOUNDS:
        _look_up(tile, row, width, group, begin, bounds, counts)
        return
    counts.tally[begin + group] += kept
    if number == 0:
        return
    if paper.crowded[0] == 0:
        low = min(max(least, np.float32(-1e38)), np.float32(1e38))
        reach = min(most, np.float32(1e38)) - low
        scale = np.float32(64000) / reach if reach > np.float32(1e-25) else np.float32(6.4e29)
        for i in range(number):
            place = min(max((values[begin + i] - low) * scale, np.float32(-1)), np.float32(65000))
            level = np.int32(place) - np.int32(32767)
            paper.bounds[i] = (level & np.int32(0xFFFF)) | (level << np.int32(16))
        paper.above[: number * PARTS] = 0
        levels = address(paper.levels)
        levels_of(scores, width, low, scale, levels)
        hits = address(paper.hits)
        above = address(paper.above)
        count_levels(levels, width, address(paper.bounds), number, above, hits)
        some = 0
        for i in range(width // 64):
            mask = paper.hits[i]
            while mask:
                some += 1
                mask &= mask - np.uint64(1)
        if some <= width // 8:
            for i in range(number):
                counts.above[begin + i] += sum_of_parts(above, i)
            if some:
                _settle(tile, row, width, begin, end, bounds, counts, paper)
            return
        paper.crowded[0] = 16
    paper.crowded[0] = max(0, paper.crowded[0] - 1)
    count_compared(
        scores,
        width,
        np.uintp(address(values) + begin * 4),
        number,
        np.uintp(address(counts.above) + begin * 8),
        np.uintp(address(counts.equal) + begin * 8),
    )


@compiled_bare
def _settle(tile, row, width, begin, end, bounds, counts, paper):
    """Compare the scores whose level a bound has, too, with the bounds of that level."""
    for step in range(width // 64):
        mask = paper.hits[step]
        while mask:
            lowest = mask & (~mask + np.uint64(1))
            i = step * 64 + _place(lowest)
            mask ^= lowest
            score, level = tile[row, i], paper.levels[i]
            index = lower(bounds.values, begin, end, score)
            if index < end and bounds.values[index] == score:
                counts.equal[index] += 1
            index -= 1
            while index >= begin and np.int16(paper.bounds[index - begin]) == level:
                counts.above[index] += 1
                index -= 1


@compiled_bare
def _place(bit):
    """Return the place of the only bit that is set."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(step):
            bit >>= np.uint64(step)
            place += step
    return place


@compiled_bare
def _look_up(tile, row, width, group, begin, bounds, counts):
    """Count a row's scores against many bounds, from ``begin`` on, by a table of their places."""
    values = bounds.values
    first, last = bounds.starts[group], bounds.starts[group + 1]
    tally = counts.tally[first + group :]
    low, lowest, scale = values[first], values[begin], bounds.scales[group]
    bins, table = bounds.bins[group], bounds.table[bounds.places[group] :]
    for i in range(width):
        score = tile[row, i]
        if score >= lowest:
            number = _bin(score, low, scale, bins)
            index, stop = first + table[number], first + table[number + 1]
            # A bin has one bound at most, as a rule, and whether it is exceeded is no branch.
            index += index < stop and values[index] < score
            if index < stop:
                index = lower(values, index, stop, score)
            tally[index - first] += 1
            if index < last and values[index] == score:
                counts.equal[index] += 1
        elif score == score:
            tally[begin - first] += 1


@compiled
def finish(bounds, counts):
    """Return how many scores exceed each bound, int64, like ``bounds.values``."""
    total = counts.above.copy()
    for group in range(len(bounds.starts) - 1):
        more = 0
        for index in range(bounds.starts[group + 1] - 1, bounds.starts[group] - 1, -1):
            more += counts.tally[index + group + 1]
            total[index] += more
    return total
