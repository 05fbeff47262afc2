"""Connected groups of entities, and the extremes of a statistic over all of them."""

from typing import NamedTuple

import numpy as np

from kgdash.engine.compiled import compiled


class Incidence(NamedTuple):
    """The units of each entity: pairs of entities that have a value.

    ``starts``: where an entity's begin, int64, ``(entities + 1,)``; ``others``: int64, each unit's
    other end, or the entity itself: each unit stands at each end; ``units``: int64, its number, in
    ``[0, N)``.
    """

    starts: np.ndarray
    others: np.ndarray
    units: np.ndarray


@compiled
def grow_groups(starts, neighbours, times, degrees, seeds, out):
    """Grow a group around each seed: again and again the neighbour that belongs to it the most.

    That is the one with the greatest part of its triples in the group, of equal ones that with the
    most, then the lower id. Each beginning of a row is connected.

    :param starts: int64, ``(n + 1,)``: where each entity's neighbours start
    :param neighbours: int64: each neighbour once, no entity itself
    :param times: float64: triples that join the two
    :param degrees: float64, ``(n,)``: sum of an entity's ``times``
    :param seeds: int64, ``(m,)``
    :param out: int64, ``(m, most)``: filled with members, the seed first; −1 where none is left
    """
    count = len(starts) - 1
    inside = np.zeros(count, dtype=np.bool_)
    joined = np.zeros(count, dtype=np.float64)
    frontier = np.empty(count, dtype=np.int64)
    for row in range(len(seeds)):
        here, waiting = seeds[row], 0
        out[row, :] = -1
        for step in range(out.shape[1]):
            out[row, step] = here
            inside[here] = True
            for at in range(starts[here], starts[here + 1]):
                other = neighbours[at]
                if not inside[other]:
                    if joined[other] == 0.0:
                        frontier[waiting] = other
                        waiting += 1
                    joined[other] += times[at]
            if waiting == 0:
                break
            best = 0
            for place in range(1, waiting):
                a, b = frontier[place], frontier[best]
                # Products of whole numbers: exact, and quotients of them might not be.
                share_a, share_b = joined[a] * degrees[b], joined[b] * degrees[a]
                if share_a > share_b or (
                    share_a == share_b
                    and (joined[a] > joined[b] or (joined[a] == joined[b] and a < b))
                ):
                    best = place
            here = frontier[best]
            if step + 1 < out.shape[1]:
                joined[here] = 0.0
                waiting -= 1
                frontier[best] = frontier[waiting]
        for place in range(waiting):
            joined[frontier[place]] = 0.0
        for step in range(out.shape[1]):
            if out[row, step] < 0:
                break
            inside[out[row, step]] = False


@compiled
def shuffle_within(values, members, starts, seed, out):
    """Permute values within groups (Fisher and Yates; random numbers of SplitMix64).

    :param values: float32, ``(n,)``
    :param members: int64, ``(n,)``: their numbers, one group's after the other's
    :param starts: int64, ``(groups + 1,)``: where each group's members start
    :param seed: uint64
    :param out: float32, ``(n,)``: filled
    """
    state = seed
    for group in range(len(starts) - 1):
        first = starts[group]
        for place in range(first, starts[group + 1]):
            out[members[place]] = values[members[place]]
        for place in range(starts[group + 1] - 1, first, -1):
            state += np.uint64(0x9E3779B97F4A7C15)
            word = state
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            left = np.uint64(place - first + 1)
            other = first + np.int64(((word >> np.uint64(32)) * left) >> np.uint64(32))
            a, b = members[place], members[other]
            out[a], out[b] = out[b], out[a]


@compiled
def scan_groups(order, incidence, fewest, values, scores, sizes):
    """Find the highest and the lowest z over the beginnings of each row of members.

    With S the sum of the values of the n units inside, of N in all, z = S / √(n (1 − n/N)): for
    values of mean 0 and variance 1, as far from 0 as chance allows in each group alike.
    A unit is inside once both its ends are.

    :param order: int64, ``(m, most)``: as `grow_groups` fills them
    :param incidence: `Incidence`, of the N units
    :param fewest: members that a group has at least
    :param values: float32, ``(N, columns)``
    :param scores: float64, ``(m, 2, columns)``: filled with highest and lowest z; NaN if no
        group has units inside
    :param sizes: int64, ``(m, 2, columns)``: with the members of the group; 0 if there is none
    """
    starts, others, units = incidence.starts, incidence.others, incidence.units
    total, columns = values.shape
    inside = np.zeros(len(starts) - 1, dtype=np.bool_)
    sums = np.empty(columns, dtype=np.float64)
    for row in range(len(order)):
        scores[row] = np.nan
        sizes[row] = 0
        sums[:] = 0.0
        count, members = 0, 0
        for step in range(order.shape[1]):
            here = order[row, step]
            if here < 0:
                break
            members += 1
            inside[here] = True
            for at in range(starts[here], starts[here + 1]):
                if inside[others[at]]:
                    count += 1
                    unit = units[at]
                    for column in range(columns):
                        sums[column] += values[unit, column]
            if members < fewest or count == 0 or count == total:
                continue
            scale = 1.0 / np.sqrt(count * (1.0 - count / total))
            for column in range(columns):
                z = sums[column] * scale
                if not z <= scores[row, 0, column]:
                    scores[row, 0, column] = z
                    sizes[row, 0, column] = members
                if not z >= scores[row, 1, column]:
                    scores[row, 1, column] = z
                    sizes[row, 1, column] = members
        for step in range(members):
            inside[order[row, step]] = False
