"""Sorting and numbering by small whole numbers."""

import numpy as np

from kgdash.engine.compiled import compiled


@compiled
def stable_order(keys, size):
    """Return the positions of keys in ascending order, equal ones as they came: a counting sort.

    :param keys: int64, each in ``[0, size)``
    :return: int64, as many
    """
    place = np.zeros(size + 1, dtype=np.int64)
    for key in keys:
        place[key + 1] += 1
    for key in range(size):
        place[key + 1] += place[key]
    order = np.empty(len(keys), dtype=np.int64)
    for row in range(len(keys)):
        key = keys[row]
        order[place[key]] = row
        place[key] += 1
    return order


@compiled
def pair_slots(groups, members, num_groups, num_members):
    """Number the distinct pairs of a group and a member, by group, then by member.

    :param groups: of each row, fewer than 2³¹: int64, each in ``[0, num_groups)``
    :param members: likewise
    :return: the number of each row's pair, and the pairs of each group, both int64
    """
    slots, sizes = np.empty(len(groups), dtype=np.int64), np.zeros(num_groups, dtype=np.int64)
    # Mostly a member is in one group alone: then no row has to be sorted.
    if _number_single(groups, members, num_members, sizes, slots):
        return slots, sizes
    sizes[:] = 0
    by_member = stable_order(members, num_members)
    slot, last = -1, -1
    for place in stable_order(groups[by_member], num_groups):
        row = by_member[place]
        if slot < 0 or groups[row] != groups[last] or members[row] != members[last]:
            slot += 1
            sizes[groups[row]] += 1
        slots[row], last = slot, row
    return slots, sizes


@compiled
def _number_single(groups, members, num_members, sizes, slots):
    """Do as `pair_slots` where each member is in one group; tell whether that is so."""
    # Smaller numbers are missed less in the cache.
    found = np.full(num_members, -1, dtype=np.int32)
    for row in range(len(groups)):
        group = groups[row]
        if found[members[row]] < 0:
            found[members[row]] = group
            sizes[group] += 1
        elif found[members[row]] != group:
            return False
    starts = np.cumsum(sizes) - sizes
    for member in range(num_members):
        group = found[member]
        if group >= 0:
            found[member] = starts[group]
            starts[group] += 1
    for row in range(len(groups)):
        slots[row] = found[members[row]]
    return True
