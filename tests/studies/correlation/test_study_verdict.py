"""No word of the verdict on a correlation study is stronger than interval and Holm's p-value."""

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.correlation.study_verdict import study_verdict, sweep_verdict


def rows_of(*rows) -> pd.DataFrame:
    columns = ["task", "coefficient", "value", "low", "high", "p_holm", "subgraphs"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize(
    ("values", "count", "words"),
    [
        ((0.4, 0.2, 0.6, 0.01), 100, "**Where ReliK is high, tail MRR is higher**: r 0.400 (0.200"),
        ((0.4, 0.2, 0.6, 0.01), 100, "a straight line on ReliK explains 16% of its variance"),
        ((-0.4, -0.6, -0.2, 0.01), 100, "is lower**"),
        ((0.4, 0.2, 0.6, 0.14), 100, "100 subgraphs do not tell**: r 0.400 (0.200 to 0.600), p (H"),
        ((0.1, -0.1, 0.3, 0.01), 100, "do not tell**: r 0.100 (-0.100 to 0.300)."),
        ((0.9, 0.8, 1.0, 0.001), 29, "29 subgraphs are too few to say whether ReliK goes with t"),
        ((np.nan, np.nan, np.nan, np.nan), 100, "Nothing to correlate"),
    ],
)
def test_one_task(values, count, words):
    rows = rows_of(("tail_mrr", "pearson", *values, count))
    assert words in study_verdict(rows, "tail_mrr", "pearson", "tail MRR")


def test_all_tasks_are_counted_after_the_chosen_one():
    rows = rows_of(
        ("tail_mrr", "pearson", 0.4, 0.2, 0.6, 0.01, 100),
        ("head_mrr", "pearson", -0.4, -0.6, -0.2, 0.01, 100),
        ("accuracy", "pearson", 0.4, 0.2, 0.6, 0.3, 100),
        ("relation_mrr", "pearson", np.nan, np.nan, np.nan, np.nan, 100),
        ("head_mrr", "kendall", 0.4, 0.2, 0.6, 0.01, 100),
    )
    said = study_verdict(rows, "tail_mrr", "pearson", "tail MRR")
    assert said.endswith(
        "Of all 4 tasks, corrected for their number, 1 are higher where ReliK is high, 1 lower; "
        "2 are not told from chance."
    )


def test_runs_are_counted():
    rows = rows_of(
        ("tail_mrr", "pearson", 0.4, 0.2, 0.6, 0.01, 100),
        ("tail_mrr", "pearson", 0.4, -0.2, 0.6, 0.01, 100),
        ("tail_mrr", "pearson", 0.9, 0.8, 1.0, 0.01, 12),
    )
    said = sweep_verdict(rows, "pearson", "tail MRR", "runs")
    assert said == (
        "**Where ReliK is high, tail MRR is higher in 1 of 3 runs**, lower in 0, and in 1 not "
        "told from chance; in 1 there are too few subgraphs."
    )
    assert "too few" in sweep_verdict(rows[2:], "pearson", "tail MRR", "runs")
