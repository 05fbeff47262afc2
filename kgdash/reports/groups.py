"""A report's breakdowns: a metric in groups of triples, the best and the worst of many."""

from dataclasses import dataclass

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.reports.evaluation import Evaluation
from kgdash.reports.method import group_command

#: groupings that a report has, in its order
REPORTED = ("relation", "cardinality", "pattern", "head_degree", "tail_degree")

#: groups shown at either end, and groups of the whole table; beyond, a command gives the rest
EXTREMES, MOST_GROUPS = 10, 250


@dataclass(frozen=True)
class Grouped:
    """One breakdown: all groups, and the best and worst where they are many."""

    by: str
    groups: pd.DataFrame
    best: pd.DataFrame | None
    worst: pd.DataFrame | None
    left_out: int
    command: str

    @property
    def name(self) -> str:
        """Return the grouping as people read it."""
        return self.by.replace("_", " ")


def grouped(evaluated: Evaluation, by: str) -> Grouped:
    """Break the chosen metric down by one of `REPORTED`."""
    table = evaluated.breakdown(by)
    both = table[table["side"] == "both"].set_index("group")
    sides = {
        side: table[table["side"] == side].set_index("group")["value"] for side in ("head", "tail")
    }
    groups = pd.DataFrame(
        {
            "group": both.index,
            "triples": both["triples"].to_numpy(),
            **{side: values.reindex(both.index).to_numpy() for side, values in sides.items()},
            "both": both["value"].to_numpy(),
            "low": both["low"].to_numpy(),
            "high": both["high"].to_numpy(),
            "gap by ties": both["gap"].to_numpy(),
            "tied %": 100 * both["tied_share"].to_numpy(),
            "size": ["small" if small else "" for small in both["small"]],
        }
    )
    best = worst = None
    if len(groups) > 2 * EXTREMES:
        large = groups[groups["triples"] >= SMALL]
        ranked = (large if len(large) >= 2 * EXTREMES else groups).dropna(subset="both")
        best, worst = (
            ranked.sort_values(["both", "triples"], ascending=[rising, False], kind="stable")
            for rising in (not evaluated.info.increasing, evaluated.info.increasing)
        )
        best, worst = best.head(EXTREMES), worst.head(EXTREMES)
        groups = groups.sort_values("triples", ascending=False, kind="stable")
    left_out = max(0, len(groups) - MOST_GROUPS)
    return Grouped(
        by, groups.head(MOST_GROUPS), best, worst, left_out, group_command(evaluated, by)
    )
