"""Bootstrap resamples: sums of groups of pairs of numbers, and how well labelled values part."""

import numpy as np

from kgdash.engine.compiled import compiled

#: what SplitMix64's state grows by from number to number
_STEP = np.uint64(0x9E3779B97F4A7C15)


@compiled
def drawn(state, count):
    """Return the number below ``count`` that a state of SplitMix64 gives, by its upper 32 bits.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.

    :param state: uint64; ``count``: uint64, 1 to 2³¹
    """
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64(((word >> np.uint64(32)) * count) >> np.uint64(32))


@compiled
def resample_groups(part, weight, starts, seeds, groups, out):
    """Fill the ratios of resamples of some groups: Σ part / Σ weight over as many draws as members.

    Members are `drawn`, each group's from its own seed.

    :param part: float64, members of all groups, one group after the other
    :param weight: likewise
    :param starts: int64, ``(groups + 1,)``: where each group's members start; at most 2³¹ members
    :param seeds: uint64, one per group
    :param groups: int64: which groups to resample
    :param out: float64, ``(groups, resamples)``; rows of other groups stay
    """
    for g in groups:
        first, count = starts[g], np.uint64(starts[g + 1] - starts[g])
        state = seeds[g]
        for resample in range(out.shape[1]):
            above, below = 0.0, 0.0
            for _ in range(count):
                state += _STEP
                at = first + drawn(state, count)
                above += part[at]
                below += weight[at]
            out[g, resample] = above / below if below != 0.0 else np.nan


@compiled
def resample_separation(values, labels, units, seed, times, out):
    """Fill the values of resamples: units drawn with replacement, as many as there are.

    All measures see the same draws (`drawn`).

    :param values: float64, ``(measures, n)``, ascending, without NaN
    :param labels: int32, ``(measures, n)``: 1 for true, 0 for false
    :param units: int32, ``(measures, n)``: what each is drawn with, in [0, len(times))
    :param seed: uint64
    :param times: int32, 1 to 2³¹ units: how often each was drawn in the last resample
    :param out: float64, ``(resamples, measures, 4)``, see `weighted_separation`
    """
    state, count = seed, np.uint64(len(times))
    for resample in range(out.shape[0]):
        times[:] = 0
        for _ in range(count):
            state += _STEP
            times[drawn(state, count)] += 1
        for measure in range(values.shape[0]):
            weighted_separation(
                values[measure], labels[measure], units[measure], times, out[resample, measure]
            )


@compiled
def weighted_separation(values, labels, units, times, out):
    """Fill ROC-AUC, average precision, mean of the true and mean of the false values; else NaN.

    Labels are factors and not branches, which would be guessed wrong half the time.

    :param values: float64, ``(n,)``, ascending, without NaN
    :param labels: int32, ``(n,)``: 1 for true, 0 for false
    :param units: int32, ``(n,)``, ids into ``times``
    :param times: int32: how often the values of a unit count
    :param out: float64, ``(4,)``
    """
    count, true, sum_true, sum_false = 0, 0, 0.0, 0.0
    for i in range(len(values)):
        weight = times[units[i]]
        count += weight
        true += weight * labels[i]
        sum_true += weight * labels[i] * values[i]
        sum_false += weight * (1 - labels[i]) * values[i]
    false = count - true
    out[0] = out[1] = np.nan
    out[2] = sum_true / true if true else np.nan
    out[3] = sum_false / false if false else np.nan
    if not true or not false:
        return
    wins, precisions = 0.0, 0.0
    below, true_below, here, true_here = 0, 0, 0, 0
    for i in range(len(values)):
        weight = times[units[i]]
        here += weight
        true_here += weight * labels[i]
        # Equal values are one threshold, and ties count half.
        if i + 1 == len(values) or values[i + 1] != values[i]:
            wins += true_here * (below - true_below + 0.5 * (here - true_here))
            precisions += true_here * ((true - true_below) / max(count - below, 1))
            below, true_below = below + here, true_below + true_here
            here, true_here = 0, 0
    out[0], out[1] = wins / (float(true) * false), precisions / true
