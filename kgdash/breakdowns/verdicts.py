"""What ranks say at a glance, in sentences made by rules (numbers.md#22-verdicts)."""

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.breakdowns.side_comparison import harder_side
from kgdash.ranking.metric import Metric
from kgdash.ranking.metrics import side_rows
from kgdash.statistics.estimate import Estimate, number, percent, whole_or_half, with_interval


def sides_verdict(ranks: pd.DataFrame, rank_type: str = "realistic") -> str:
    """Say how often the true answer is found, and which side is harder.

    :param ranks: of `kgdash.runs.Run.ranks`, heads and tails
    """
    values = ranks[rank_type].to_numpy()[side_rows(ranks, "both")]
    triples = values.shape[1]
    if triples < SMALL:
        return f"Only {triples} triples, which say little."
    first, among_ten = (percent(float((values <= k).mean())) for k in (1, 10))
    heads, tails = 1 / values
    means = number(float(heads.mean())), number(float(tails.mean()))
    worse = harder_side(ranks, rank_type)
    if worse == "tail":
        told = f"tails are harder than heads: MRR {means[1]} against {means[0]}"
    elif worse == "head":
        told = f"heads are harder than tails: MRR {means[0]} against {means[1]}"
    else:
        told = f"heads and tails are not told apart: MRR {means[0]} and {means[1]}"
    return (
        f"The true answer comes first in **{first}** of {values.size:,} queries and is among the "
        f"ten best in **{among_ten}**; {told}."
    )


def groups_verdict(
    groups: pd.DataFrame, overall: float, metric: Metric, level: float = 0.95
) -> str:
    """Say in which group a metric is worst and best, and how many groups differ from the whole.

    :param groups: of `kgdash.breakdowns.breakdown.breakdown`, the rows of one side
    :param overall: the metric of all groups together
    :param level: of the groups' intervals, in (0, 1)
    """
    large = groups[groups["triples"] >= SMALL].dropna(subset="value")
    if len(large) < 2:
        return f"No two groups have {SMALL} triples: none is told from another."
    ordered = large.sort_values("value", ascending=metric.increasing, kind="stable")
    worst, best = _first(ordered), _first(ordered.iloc[::-1])
    are_small = (groups["triples"] < SMALL).any()
    named = f", of groups of {SMALL} triples or more" if are_small else ""
    said = f"{metric.short or metric.label} is worst in {worst}, and best in {best}{named}."
    if (alike := _alike(ordered)) == len(ordered):
        value = number(float(ordered["value"].iloc[0]))
        said = (
            f"{metric.short or metric.label} is {value} in all {alike:,} groups of {SMALL} triples "
            "or more."
        )
    large = large.dropna(subset="low")
    if not len(large):
        return f"{said} There are no intervals of it here."
    below, above = (large["high"] < overall).sum(), (large["low"] > overall).sum()
    return (
        f"{said} Of {len(large):,} groups with an interval, {below:,} lie below all "
        f"together ({number(overall)}) with their whole interval, {above:,} above; of groups that "
        f"differ in nothing, some {whole_or_half((1 - level) * len(large))} would, were triples "
        "independent: those of one entity or relation are alike, and more do."
    )


def _first(groups: pd.DataFrame) -> str:
    """Name the first group and its value, and how many are like it, which stand behind it."""
    row, others = groups.iloc[0], _alike(groups) - 1
    if others:
        more = "another" if others == 1 else f"{others:,} others"
        return f"**{row['group']}** and {more} alike, {number(row['value'])}"
    value = Estimate(row["value"], row["low"], row["high"], int(row["triples"]))
    return f"**{row['group']}**, {with_interval(value)}"


def _alike(groups: pd.DataFrame) -> int:
    """Count the groups whose value is the first one's."""
    values = groups["value"].to_numpy()
    return int(np.isclose(values, values[0], rtol=1e-9, atol=0).sum())
