"""Standard errors of means over triples, as entities are left out one after the other."""

import numpy as np


def means_within(
    groups: np.ndarray, ends: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Average what lies within groups of entities, with the jackknife's standard errors.

    The triples of one entity are alike, so that they are left out together: s² = (k − 1)/k
    Σ (m₋ₑ − mean of all m₋ₑ)², m₋ₑ the mean without the triples of entity e, over the k entities
    with triples in the group (Snijders and Borgatti, "Non-parametric standard errors and tests for
    network statistics", 1999).

    :param groups: int64, ``(entities,)``: each one's group, from 0 on
    :param ends: int64, ``(n, 2)``: the entities of each triple, in any groups
    :param values: float64, ``(n,)``
    :return: by group: the mean of the values with both ends in it, and its error; NaN where there
        are none, or where an entity is an end of all
    """
    own = groups[ends]
    inside = own[:, 0] == own[:, 1]
    of, values, (first, second) = own[inside, 0], values[inside], ends[inside].T
    other = first != second
    count, entities = int(groups.max(initial=-1)) + 1, len(groups)
    sums, sizes = np.bincount(of, values, count), np.bincount(of, minlength=count)
    without = sums[groups] - np.bincount(first, values, entities)
    without -= np.bincount(second[other], values[other], entities)
    taken = np.bincount(first, minlength=entities) + np.bincount(second[other], minlength=entities)
    there = taken > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(sizes[groups] > taken, without / (sizes[groups] - taken), np.nan)[there]
        of = groups[there]
        members = np.bincount(of, minlength=count)
        centre = np.bincount(of, left, count) / members
        squares = np.bincount(of, (left - centre[of]) ** 2, count)
        return sums / sizes, np.sqrt((members - 1) / members * squares)
