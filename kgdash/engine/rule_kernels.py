"""Counting the pairs that chains of two steps join, for many second steps at once."""

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled


class Lists(NamedTuple):
    """A list of numbers per entity: ``values[starts[e]:starts[e + 1]]``; int64, ``(n + 1,)``."""

    starts: np.ndarray
    values: np.ndarray


class Groups(NamedTuple):
    """Steps by (entity, step, end): an entity has a group per step that leaves it. All int64.

    ``starts``: where an entity's groups start, ``(n + 1,)``; ``groups``: the step of each, and
    where its ends start, ``(g + 1, 2)``; ``ends``: of all steps.
    """

    starts: np.ndarray
    groups: np.ndarray
    ends: np.ndarray


class Pairs(NamedTuple):
    """Relation and tail of each fact, by head: int64, ``(n + 1,)`` and ``(facts, 2)``."""

    starts: np.ndarray
    pairs: np.ndarray


class Sums(NamedTuple):
    """What is counted: ``size``: per second step; ``support``, ``pca``: × relation. int64."""

    size: np.ndarray
    support: np.ndarray
    pca: np.ndarray


class Hits(NamedTuple):
    """Facts that rules find. ``mined``: bool, second step × relation; ``counts``: int64, ``(n,)``.

    ``counts`` has a place per fact, in the order of `Pairs`.
    """

    mined: np.ndarray
    counts: np.ndarray


@compiled
def count_chains(first, steps, facts, argued, sums, hits):
    """Count the pairs (x, y) with x –first→ h –second→ y, for one first and all second steps.

    :param first: `Lists`: the ends of the first step of each x
    :param steps: `Groups`
    :param facts: `Pairs`
    :param argued: `Lists`: the relations of which each x is the functional argument
    :param sums: `Sums`, added to
    :param hits: `Hits`, added to
    """
    first_starts, first_ends = first
    group_starts, groups, ends = steps
    pair_starts, pairs = facts
    size, support, pca = sums
    mined, counts = hits
    count = len(first_starts) - 1
    stamp = np.full(count, -1, dtype=np.int64)
    of_pair = np.full(count, -1, dtype=np.int64)
    following = np.full(len(pairs), -1, dtype=np.int64)
    latest = np.full(len(size), -1, dtype=np.int64)
    touched = np.empty(len(size), dtype=np.int64)
    before = np.empty(len(groups), dtype=np.int64)
    at_group = np.empty(len(groups), dtype=np.int64)
    mark = 0
    for x in range(count):
        if first_starts[x] == first_starts[x + 1]:
            continue
        for at in range(pair_starts[x], pair_starts[x + 1]):
            following[at] = of_pair[pairs[at, 1]]
            of_pair[pairs[at, 1]] = at
        # The groups of all h, as one list per second step.
        waiting = listed = 0
        for place in range(first_starts[x], first_starts[x + 1]):
            h = first_ends[place]
            for group in range(group_starts[h], group_starts[h + 1]):
                step = groups[group, 0]
                if latest[step] < 0:
                    touched[waiting] = step
                    waiting += 1
                before[listed], at_group[listed] = latest[step], group
                latest[step] = listed
                listed += 1
        for number in range(waiting):
            step, found = touched[number], 0
            link = latest[step]
            while link >= 0:
                group = at_group[link]
                for at in range(groups[group, 1], groups[group + 1, 1]):
                    y = ends[at]
                    if stamp[y] != mark:
                        stamp[y] = mark
                        found += 1
                        fact = of_pair[y]
                        while fact >= 0:
                            relation = pairs[fact, 0]
                            support[step, relation] += 1
                            counts[fact] += mined[step, relation]
                            fact = following[fact]
                link = before[link]
            size[step] += found
            for at in range(argued.starts[x], argued.starts[x + 1]):
                pca[step, argued.values[at]] += found
            latest[step] = -1
            mark += 1
        for at in range(pair_starts[x], pair_starts[x + 1]):
            of_pair[pairs[at, 1]] = -1


@compiled
def count_chains_backwards(back, steps, inverse, argued, pca):
    """Count, per y, the x with x –first→ h –second→ y, where y is the functional argument.

    :param back: `Lists`: the starts of the first step, per h
    :param steps: `Groups`
    :param inverse: int64, ``(steps,)``: each step the other way round
    :param argued: `Lists`: the relations of which each y is the functional argument
    :param pca: of `Sums`, added to
    """
    back_starts, back_ends = back
    group_starts, groups, ends = steps
    count = len(back_starts) - 1
    stamp = np.full(count, -1, dtype=np.int64)
    mark = 0
    for y in range(count):
        if argued.starts[y] == argued.starts[y + 1]:
            continue
        for group in range(group_starts[y], group_starts[y + 1]):
            found = 0
            for at in range(groups[group, 1], groups[group + 1, 1]):
                h = ends[at]
                for place in range(back_starts[h], back_starts[h + 1]):
                    x = back_ends[place]
                    if stamp[x] != mark:
                        stamp[x] = mark
                        found += 1
            mark += 1
            if found:
                second = inverse[groups[group, 0]]
                for at in range(argued.starts[y], argued.starts[y + 1]):
                    pca[second, argued.values[at]] += found
