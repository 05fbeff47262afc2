"""How long telling true from false takes: 26 rules, 23,324 instances, three measures.

    python benchmarks/separation.py [--instances N] [--groups N] [--draws N]

Naive calls scikit-learn's functions on each resample, measure by measure; it is timed on N draws
of the largest group, the one of all instances, and extrapolated to 1,000.
"""

import argparse

import measure
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.instances.separation import compare_measures

MEASURES = ("relik", "reciprocal_rank", "score")
RESAMPLES = Bootstrap().resamples


def instances(count: int, groups: int) -> pd.DataFrame:
    """Make scored instances of random values, two per question, true ones a little higher."""
    rng, numbers = np.random.default_rng(0), np.arange(count)
    labels = numbers % 2 == 0
    table = pd.DataFrame({"group": numbers // 2 % groups, "label": labels})
    table = table.assign(group="rule " + table["group"].astype(str), question=numbers // 2)
    table = table.assign(answer=numbers, distinct=1)
    for name in MEASURES:
        table[f"{name}_max"] = 10 ** (rng.uniform(-6, 0, count) + labels)
    return table


def naive(table: pd.DataFrame, draws: int) -> None:
    """Compute AUC and average precision of some resamples of questions."""
    rng = np.random.default_rng(0)
    by_question = table.sort_values("question")[["label", *(f"{m}_max" for m in MEASURES)]]
    pairs = by_question.to_numpy(dtype=float)[: len(table) // 2 * 2].reshape(-1, 2, 4)
    for _ in range(draws):
        rows = pairs[rng.integers(len(pairs), size=len(pairs))].reshape(-1, 4)
        for column in range(1, 4):
            roc_auc_score(rows[:, 0], rows[:, column])
            average_precision_score(rows[:, 0], rows[:, column])


def main() -> None:
    """Time both and print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--instances", type=int, default=23_324)
    parser.add_argument("--groups", type=int, default=26)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    table = instances(options.instances, options.groups)
    measure.warm()
    ours = measure.median_seconds(lambda: compare_measures(table, MEASURES))
    other = measure.seconds(lambda: naive(table, options.draws)) * RESAMPLES / options.draws
    print(measure.machine())
    print(f"{options.instances:,} instances of {options.groups} groups, {RESAMPLES} resamples")
    print(f"all groups, with intervals: {ours:.2f} s")
    print(f"naive, the row over all groups alone: {other:.0f} s: {other / ours:.0f}×")


if __name__ == "__main__":
    main()
