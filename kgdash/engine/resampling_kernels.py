"""Bootstrap resamples of groups of pairs of numbers: sums over draws with replacement."""

import numpy as np

from kgdash.engine.compiled import compiled


@compiled
def resample_groups(part, weight, starts, seeds, groups, out):
    """Fill the ratios of resamples of some groups: Σ part / Σ weight over as many draws as members.

    Random numbers are those of SplitMix64 (Steele, Lea and Flood 2014), each group's from its own
    seed; a member is drawn by the upper 32 bits times the size of its group.

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
                state += np.uint64(0x9E3779B97F4A7C15)
                word = state
                word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                word ^= word >> np.uint64(31)
                at = first + np.int64(((word >> np.uint64(32)) * count) >> np.uint64(32))
                above += part[at]
                below += weight[at]
            out[g, resample] = above / below if below != 0.0 else np.nan
