"""What a correlation study says, in plain words: never a word stronger than the interval.

Rules: numbers.md#22-verdicts.
"""

import math
from typing import Any

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.estimate import Estimate, p_value, percent, with_interval
from kgdash.statistics.multiple_testing import LEVEL, direction

#: coefficient -> its symbol
SYMBOLS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}


def study_verdict(rows: pd.DataFrame, task: str, coefficient: str, name: str) -> str:
    """Say whether a task is higher where ReliK is high, and of how many tasks that holds.

    :param rows: of `kgdash.studies.correlation.correlation.correlations`, of one run and size
    :param task: of the first sentence
    :param coefficient: "pearson", "spearman" or "kendall"
    :param name: what the task is called in a sentence
    """
    mine = rows[rows["coefficient"] == coefficient]
    row = mine[mine["task"] == task].iloc[0].to_dict()
    first = _of_task(row, coefficient, name)
    if len(mine) < 2 or row["subgraphs"] < SMALL:
        return first
    counts = mine.apply(direction, axis=1).value_counts()
    up, down, not_told = (int(counts.get(way, 0)) for way in (1, -1, 0))
    return (
        f"{first} Of all {len(mine)} tasks, corrected for their number, {up} are higher where "
        f"ReliK is high, {down} lower; {not_told} are not told from chance."
    )


def sweep_verdict(rows: pd.DataFrame, coefficient: str, name: str, of: str) -> str:
    """Say in how many runs, or at how many sizes, a task is higher where ReliK is high.

    :param rows: of one task, a row per run or size
    :param name: what the task is called in a sentence
    :param of: what the rows are, in the plural: "runs", "sizes"
    """
    mine = rows[rows["coefficient"] == coefficient]
    enough = mine[mine["subgraphs"] >= SMALL]
    if not len(enough):
        return f"Fewer than {SMALL} subgraphs have a {name}: too few to say anything."
    counts = enough.apply(direction, axis=1).value_counts()
    up, down, not_told = (int(counts.get(way, 0)) for way in (1, -1, 0))
    left = len(mine) - len(enough)
    said = f"**Where ReliK is high, {name} is higher in {up} of {len(mine)} {of}**"
    said += f", lower in {down}, and in {not_told} not told from chance"
    return f"{said}{f'; in {left} there are too few subgraphs' if left else ''}."


def _of_task(row: dict[str, Any], coefficient: str, name: str) -> str:
    count = int(row["subgraphs"])
    if math.isnan(row["value"]):
        return f"Nothing to correlate: {name} or ReliK is known of too few subgraphs, or constant."
    found = Estimate(row["value"], row["low"], row["high"], count)
    value = f"{SYMBOLS[coefficient]} {with_interval(found)}"
    if count < SMALL:
        return f"{count} subgraphs are too few to say whether ReliK goes with {name}: {value}."
    way = direction(row)
    if way == 0:
        beyond = "" if row["p_holm"] <= LEVEL else f", p (Holm) {p_value(row['p_holm'])}"
        return (
            f"**Whether {name} is higher where ReliK is high, {count:,} subgraphs do not tell**: "
            f"{value}{beyond}."
        )
    said = f"**Where ReliK is high, {name} is {'higher' if way > 0 else 'lower'}**: {value}"
    if coefficient == "pearson":
        said += f"; a straight line on ReliK explains {percent(row['value'] ** 2)} of its variance"
    return f"{said}, over {count:,} subgraphs."
