"""Counting the pairs that chains of two steps join, for many second steps at once."""

from __future__ import annotations

import numpy as np

from kgdash.engine.compiled import compiled


@compiled
def count_chains(
    first_starts, first_ends, group_starts, groups, ends, pair_starts, pairs, facts, out
):
    """Count the pairs (x, y) with x –first→ h –second→ y, for one first and all second steps.

    Steps lie by (entity, step, end): an entity's steps are groups, one per step that leaves it.

    :param first_starts: int64, ``(n + 1,)``: where the ends of the first step of each x start
    :param first_ends: int64: those ends
    :param group_starts: int64, ``(n + 1,)``: where the groups of each entity start
    :param groups: int64, ``(g + 1, 2)``: the step of each group, and where its ends start
    :param ends: int64: the ends of all steps
    :param pair_starts: int64, ``(n + 1,)``: where the facts with each head start
    :param pairs: int64, ``(f, 2)``: relation and tail of each fact, by head
    :param facts: see `_argued`: the relations of which each x is the functional argument
    :param out: int64 sums: ``size`` per second step; ``support`` and ``pca``: second × relation
    """
    size, support, pca = out
    count, steps = len(first_starts) - 1, len(size)
    stamp = np.full(count, -1, dtype=np.int64)
    of_pair = np.full(count, -1, dtype=np.int64)
    following = np.full(len(pairs), -1, dtype=np.int64)
    latest = np.full(steps, -1, dtype=np.int64)
    touched = np.empty(steps, dtype=np.int64)
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
                            support[step, pairs[fact, 0]] += 1
                            fact = following[fact]
                link = before[link]
            size[step] += found
            for at in range(facts[0][x], facts[0][x + 1]):
                pca[step, facts[1][at]] += found
            latest[step] = -1
            mark += 1
        for at in range(pair_starts[x], pair_starts[x + 1]):
            of_pair[pairs[at, 1]] = -1


@compiled
def count_chains_backwards(back_starts, back_ends, group_starts, groups, ends, inverse, facts, pca):
    """Count, per y, the x with x –first→ h –second→ y, where y is the functional argument.

    :param back_starts: int64, ``(n + 1,)``: where the starts of the first step, per h, start
    :param back_ends: int64: those starts
    :param group_starts: see `count_chains`
    :param groups: see `count_chains`
    :param ends: see `count_chains`
    :param inverse: int64, ``(steps,)``: each step the other way round
    :param facts: the relations of which each y is the functional argument
    :param pca: int64 sums: second × relation
    """
    count = len(back_starts) - 1
    stamp = np.full(count, -1, dtype=np.int64)
    mark = 0
    for y in range(count):
        if facts[0][y] == facts[0][y + 1]:
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
                for at in range(facts[0][y], facts[0][y + 1]):
                    pca[second, facts[1][at]] += found
