"""The paper's table: models × tasks, what is not significant and what is negative marked.

Defined in numbers.md#16-cross-validation.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: what the paper's Table 1 holds ReliK against
PAPER_TASKS = ("tail_mrr", "relation_mrr", "accuracy")

#: p-values above this are marked
SIGNIFICANT = 0.05

#: stands behind a value with p > `SIGNIFICANT`
NOT_SIGNIFICANT = " °"


def models_table(
    coefficients: pd.DataFrame,
    coefficient: str = "pearson",
    tasks: Sequence[str] = PAPER_TASKS,
    p: str = "p",
) -> pd.DataFrame:
    """Lay the correlations of several runs out as a table of runs × tasks.

    :param coefficients: of `correlation_studies`: ``run``, ``size``, ``task``,
        ``coefficient``, ``value``, ``p``
    :param coefficient: "pearson", "spearman" or "kendall"
    :param tasks: the columns to come, those of them that ``coefficients`` has
    :param p: the column with the p-values that decide the marks: "p" or "p_holm"
    :return: one row per run and size, in the order of ``coefficients``: ``run``, ``size``, and for
        each task ``{task}`` (the coefficient) and ``{task}_p``, float64; NaN where there is none
    """
    rows = coefficients[
        (coefficients["coefficient"] == coefficient) & coefficients["task"].isin(tasks)
    ]
    order = rows[["run", "size"]].drop_duplicates()
    parts = [order]
    for task in (task for task in tasks if (rows["task"] == task).any()):
        of_task = rows.loc[rows["task"] == task, ["run", "size", "value", p]]
        named = of_task.rename(columns={"value": task, p: f"{task}_p"})
        parts.append(order.merge(named, on=["run", "size"], how="left")[[task, f"{task}_p"]])
    return pd.concat([part.reset_index(drop=True) for part in parts], axis=1)


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """Write a table of `models_table` as texts of two digits.

    :return: ``run``, ``size``, and a text per task: "0.83"; "−0.04" where negative, with a true
        minus sign; "0.12 °" where p > 0.05; "–" where there is none
    """
    tasks = [name for name in table.columns if f"{name}_p" in table.columns]
    texts = {
        task: [_text(value, p) for value, p in zip(table[task], table[f"{task}_p"], strict=True)]
        for task in tasks
    }
    return table[["run", "size"]].assign(**texts)


def _text(value: float, p: float) -> str:
    if np.isnan(value):
        return "–"
    digits = f"{value:z.2f}".replace("-", "−")
    return digits + (NOT_SIGNIFICANT if p > SIGNIFICANT else "")
