"""The table of models × tasks: its layout, its marks."""

import numpy as np
import pandas as pd

from kgdash.studies.correlation.models_table import marked, models_table

FOUND = pd.DataFrame(
    [
        ("b", 20, "tail_mrr", "pearson", 0.834, 0.001, 0.2),
        ("b", 20, "tail_mrr", "kendall", 0.5, 0.9, 0.9),
        ("b", 20, "relation_mrr", "pearson", -0.041, 0.7, 1.0),
        ("a", 20, "tail_mrr", "pearson", -0.5, 0.05, 0.06),
        ("a", 20, "relation_mrr", "pearson", np.nan, np.nan, np.nan),
        ("a", 40, "tail_mrr", "pearson", 0.1, 0.06, 0.06),
        ("a", 60, "tail_mrr", "pearson", -0.004, 0.01, 0.01),
    ],
    columns=["run", "size", "task", "coefficient", "value", "p", "p_holm"],
)


def test_runs_by_tasks():
    table = models_table(FOUND, tasks=["relation_mrr", "accuracy", "tail_mrr"])
    assert table.columns.tolist() == [
        *("run", "size", "relation_mrr", "relation_mrr_p", "tail_mrr", "tail_mrr_p"),
    ]
    assert table[["run", "size"]].to_numpy().tolist() == [
        ["b", 20],
        ["a", 20],
        ["a", 40],
        ["a", 60],
    ]
    assert table["tail_mrr"].tolist() == [0.834, -0.5, 0.1, -0.004]
    np.testing.assert_array_equal(table["relation_mrr_p"], [0.7, np.nan, np.nan, np.nan])
    only = models_table(FOUND, "kendall")
    assert only[["tail_mrr", "tail_mrr_p"]].to_numpy().tolist() == [[0.5, 0.9]]


def test_marks():
    texts = marked(models_table(FOUND))
    assert texts["tail_mrr"].tolist() == ["0.83", "−0.50", "0.10 °", "0.00"]
    assert texts["relation_mrr"].tolist() == ["−0.04 °", "–", "–", "–"]
    corrected = marked(models_table(FOUND, p="p_holm"))
    assert corrected["tail_mrr"].tolist() == ["0.83 °", "−0.50 °", "0.10 °", "0.00"]
