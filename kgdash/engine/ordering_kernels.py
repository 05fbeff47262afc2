"""Sorting by small whole numbers."""

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
