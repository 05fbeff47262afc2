"""Is the difference between two runs more than chance? Tests on paired reciprocal ranks.

The unit is the triple: its head and tail rank are kept together. All pairs of runs share the same
draws, so that a pass over the triples serves them all.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from kgdash.files.table_cache import cached_table
from kgdash.progress import Progress, phases, silent
from kgdash.statistics.bootstrap import FEWEST, Bootstrap, percentile_interval, resample_counts
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.rounding import excess, rounded
from kgdash.statistics.unseen import allow_for_unseen

#: draws of the bootstrap and of the permutation test, as SciPy has it
RESAMPLES = 9999
BOOTSTRAP = Bootstrap(resamples=RESAMPLES)

#: with so many triples that differ, all 2ⁿ ways to swap the two runs are gone through
EXACT = 13

#: of which all ways to swap two runs have a p-value below 1.6%, by which a few may go either way
FEWEST_UNITS = 7

#: of differences of reciprocal ranks
_BOUNDS = (-1.0, 1.0)

#: bytes that a block of draws may take: what a core's cache holds
_BLOCK = 1 << 20


def paired_tests(
    values: np.ndarray,
    names: Sequence[str],
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Test every pair of runs on what each makes of the same triples; kept on disk.

    - Interval: percentile bootstrap of the mean difference over triples (Efron 1979), as
      `scipy.stats.bootstrap` with ``paired=True`` and ``method="percentile"``, widened by what no
      triple showed (`allow_for_unseen`): of differences that are rarely large, draws have none.
    - ``p_permutation``: two-sided test that each triple's two values may be swapped, on the mean
      difference, as `scipy.stats.permutation_test` with ``permutation_type="samples"``: by all
      swaps where at most 13 triples differ, else (b + 1)/(m + 1) with b of m random swaps as
      extreme (Phipson and Smyth 2010).
    - ``p_wilcoxon``: `scipy.stats.wilcoxon` without the equal ones. It tests whether differences
      are symmetric about 0, not whether their mean is 0, and so may disagree.
    - Holm's correction (1979) over all pairs: valid however the pairs depend on one another.

    :param values: of `reciprocal_ranks`: in (0, 1], shape ``(triples, runs)``
    :param bootstrap: ``resamples`` (m) and ``seed`` are of the permutation test too
    :return: one row per pair, in the order of the runs: ``a, b`` (str), ``triples`` (int64),
        ``mean_a``, ``mean_b``, ``difference`` (a − b; float64 in (−1, 1)), ``low``, ``high`` (NaN
        for fewer than ten triples, or where all differences are 0), ``effect_size`` (Cohen's d
        of paired differences: their mean over their standard deviation; NaN where they are all
        equal), ``p_permutation``, ``p_holm``, ``p_wilcoxon`` (in (0, 1]; the last may be so small
        that it is 0), ``wins``, ``ties``, ``losses`` (int64: triples where a's value is higher,
        equal, lower)
    """
    content = hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()
    key = {"kind": "paired tests", "values": content, "names": list(names), "version": 4}
    key |= {"shape": list(values.shape), **asdict(bootstrap)}
    about = {"kind": "comparison", "run": ", ".join(names), "triples": len(values)}
    return cached_table(
        key, lambda: _paired_tests(values, names, bootstrap, progress), about, progress
    )


def _paired_tests(
    values: np.ndarray, names: Sequence[str], bootstrap: Bootstrap, progress: Progress
) -> pd.DataFrame:
    first, second = phases(progress, [0.75, 0.25])
    pairs = list(combinations(range(len(names)), 2))
    left, right = (np.array(column) for column in zip(*pairs, strict=True))
    differences = excess(values[:, left], values[:, right])
    means, observed = values.mean(axis=0), differences.mean(axis=0)
    table = pd.DataFrame(
        {
            "a": [names[i] for i in left],
            "b": [names[i] for i in right],
            "triples": len(values),
            "mean_a": means[left],
            "mean_b": means[right],
            "difference": observed,
        }
    )
    table["low"], table["high"] = _intervals(differences, bootstrap, first)
    spread = differences.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(pairs), np.nan)
    table["effect_size"] = np.divide(
        observed, spread, out=np.full(len(pairs), np.nan), where=spread > 0
    )
    table["p_permutation"] = permutation_p(
        differences, bootstrap.resamples, (bootstrap.seed, 1), second
    )
    table["p_holm"] = holm(table["p_permutation"].to_numpy())
    table["p_wilcoxon"] = [
        float(wilcoxon(column).pvalue) if column.any() else 1.0 for column in differences.T
    ]
    for name, hit in (
        ("wins", differences > 0),
        ("ties", differences == 0),
        ("losses", differences < 0),
    ):
        table[name] = hit.sum(axis=0)
    return table


def _intervals(
    differences: np.ndarray, bootstrap: Bootstrap, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each column's mean: two of ``(pairs,)``.

    NaN for fewer than `FEWEST` triples, of which resamples vary too little, and where no value
    differs from 0, since resampling would claim a certainty that they do not give.
    """
    count, pairs = differences.shape
    if count < FEWEST:
        return np.full(pairs, np.nan), np.full(pairs, np.nan)
    rng, resamples = np.random.default_rng((bootstrap.seed, 0)), bootstrap.resamples
    means = np.empty((resamples, pairs))
    for block, times in resample_counts(count, resamples, rng, max(1, _BLOCK // (8 * count))):
        means[block] = times @ differences / count
        progress(block.stop, resamples)
    ends = np.stack(percentile_interval(means, bootstrap.level), axis=1)
    ends[(rounded(ends) == 0).all(axis=1)] = np.nan
    low, high = allow_for_unseen(differences.mean(axis=0), ends, count, bootstrap.level, _BOUNDS).T
    return low, high


def permutation_p(
    differences: np.ndarray,
    resamples: int = RESAMPLES,
    seed: int | tuple[int, ...] = 0,
    progress: Progress = silent,
) -> np.ndarray:
    """Test by swapping signs whether the mean of each column differs from 0, two-sided.

    :param differences: shape ``(triples, columns)``
    :param resamples: m, random swaps where more than 13 values of a column differ from 0
    :return: p-values in (0, 1], shape ``(columns,)``
    """
    sums = np.abs(differences.sum(axis=0))
    # Sums that are equal but for the order of their terms count as equal.
    least = sums - 1e-12 * np.abs(differences).sum(axis=0)
    few = (differences != 0).sum(axis=0) <= EXACT
    p_values = np.ones(differences.shape[1])
    for column in np.flatnonzero(few):
        terms = differences[differences[:, column] != 0, column]
        ways = np.arange(1 << len(terms))[:, None] >> np.arange(len(terms)) & 1
        p_values[column] = np.mean(np.abs((2.0 * ways - 1) @ terms) >= least[column])
    many = np.flatnonzero(~few)
    if not len(many):
        return p_values
    rng, count = np.random.default_rng(seed), len(differences)
    terms, total = differences[:, many], differences[:, many].sum(axis=0)
    extreme = np.zeros(len(many), dtype=np.int64)
    for block in _blocks(resamples, 9 * count):
        size = block.stop - block.start
        bits = rng.integers(0, 256, size=(size, (count + 7) // 8), dtype=np.uint8)
        kept = np.unpackbits(bits, axis=1, count=count).astype(np.float64)
        extreme += (np.abs(2 * (kept @ terms) - total) >= least[many]).sum(axis=0)
        progress(block.stop, resamples)
    p_values[many] = (extreme + 1) / (resamples + 1)
    return p_values


def shared_p(differences: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Test as `permutation_p`, rows of one unit swapped together, by several ways to draw units.

    Triples of one head, relation or tail are alike: what holds of many may hold of one unit alone.

    :param differences: shape ``(rows, columns)``
    :param units: int64, ``(rows, ways)``: which unit a row is of
    :return: the largest p-value of a column, shape ``(columns,)``; ways of so few units that no
        p-value could come below 5% once it is corrected for all columns are left out: of fewer than
        `FEWEST_UNITS`, and one more each time that columns double; NaN where no way is left
    """
    p_values = np.full(differences.shape[1], np.nan)
    fewest = FEWEST_UNITS + math.log2(max(1, len(p_values)))
    for way in units.T:
        _, place = np.unique(way, return_inverse=True)
        if place.max(initial=0) + 1 >= fewest:
            sums = np.stack([np.bincount(place, column) for column in differences.T], axis=1)
            p_values = np.fmax(p_values, permutation_p(sums, RESAMPLES))
    return p_values


def _blocks(rows: int, row_bytes: int) -> Iterator[slice]:
    """Cut rows into blocks that fit the memory for them."""
    step = max(1, _BLOCK // row_bytes)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
