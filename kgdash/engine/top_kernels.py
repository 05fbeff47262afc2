"""The best candidates of rows of scores, found in one pass."""

import numpy as np

from kgdash.engine.compiled import compiled


@compiled
def _scrambled(state, value):
    """Scramble 64 bits as SplitMix64 does (Steele, Lea and Flood 2014): uint64 both."""
    word = (state ^ value) + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def scrambled(states, values):
    """Scramble values, uint64, ``(n,)``, each by its state: uint64, ``(n,)``."""
    found = np.empty(len(values), np.uint64)
    for i in range(len(values)):
        found[i] = _scrambled(states[i], values[i])
    return found


@compiled
def best_of_rows(scores, masks, seeds, entity, score, key):
    """Fill the best candidates of each row, best first; places beyond the last stay as they are.

    Of equal scores the least key comes first.

    :param scores: ``(n, m)``, without NaN
    :param masks: `kgdash.engine.kernels.Masks`: the columns that each row leaves out
    :param seeds: uint64, ``(n,)``: a column's key is `scrambled` by its row's; ``(0,)``: the column
    :param entity: int64, ``(n, k)``: the columns
    :param score: of the type of ``scores``, ``(n, k)``
    :param key: uint64, ``(n, k)``
    """
    width, places = scores.shape[1], entity.shape[1]
    for row in range(len(scores)):
        found, least, first = 0, -np.inf, 0
        for mask in range(masks.starts[row], masks.starts[row + 1] + 1):
            stop = masks.columns[mask] if mask < masks.starts[row + 1] else width
            for column in range(first, stop):
                value = scores[row, column]
                if value < least:
                    continue
                own = np.uint64(column)
                if len(seeds):
                    own = _scrambled(seeds[row], own)
                if found < places:
                    found += 1
                elif value == least and own >= key[row, places - 1]:
                    continue
                place = found - 1
                while place and (
                    score[row, place - 1] < value
                    or (score[row, place - 1] == value and key[row, place - 1] > own)
                ):
                    entity[row, place] = entity[row, place - 1]
                    score[row, place] = score[row, place - 1]
                    key[row, place] = key[row, place - 1]
                    place -= 1
                entity[row, place], score[row, place], key[row, place] = column, value, own
                if found == places:
                    least = score[row, places - 1]
            first = stop + 1
