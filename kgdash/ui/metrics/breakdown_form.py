"""The choices of the page Breakdowns, kept in the URL."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pandas as pd

from kgdash.breakdowns.custom_grouping import CustomGrouping
from kgdash.ranking.metric import Metric
from kgdash.runs import Run
from kgdash.ui.metrics.custom_groups_form import own_groupings
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import (
    choice,
    choose_filter,
    choose_metric,
    choose_rank_type,
    choose_side,
    choose_split,
)

#: as the URL shows them too
_GROUPING_NAMES = {
    "relation": "relation",
    "cardinality": "cardinality",
    "pattern": "pattern",
    "head_degree": "head degree",
    "tail_degree": "tail degree",
    "answers": "known answers",
    "frequency": "train frequency",
}

_HELP = (
    "By train triples. Cardinality: n where there are on average at least 1.5 heads per tail, or "
    "tails per head. Pattern: symmetric, inverse of another relation, or composed of two, if 80% "
    "of its triples say so. Degree: of the entity. Known answers: of the query, in all splits. "
    "Train frequency: of the relation. Below you can add groups of your own."
)

_ORDERS = ("as they are", "most triples", "best first", "worst first")


@dataclass(frozen=True)
class BreakdownChoice:
    """What the page breaks down, how, and in which order it shows the groups."""

    split: str
    filter: str
    rank_type: str
    by: str
    grouping: str | CustomGrouping
    grouping_key: tuple[Hashable, ...]
    metric: Metric
    side: str
    order: str

    def in_order(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the chosen side in the chosen order."""
        rows = table[table["side"] == self.side]
        if self.order == "most triples":
            rows = rows.sort_values("triples", ascending=False, kind="stable")
        elif self.order != "as they are":
            rising = self.metric.increasing == (self.order == "worst first")
            rows = rows.sort_values("value", ascending=rising, kind="stable")
        return rows.reset_index(drop=True)


def choose_breakdown(run: Run) -> BreakdownChoice:
    """Show the choices and return them."""
    own = own_groupings(run)
    with settings():
        by = choice(
            "Group by",
            _GROUPING_NAMES | {name: name for name in own.saved},
            "by",
            help=_HELP,
        )
        metric = choose_metric()
        side = choose_side()
        default = "most triples" if by == "relation" else "as they are"
        order = choice("Order", list(_ORDERS), f"order_{by}", default)
    with more_settings():
        split = choose_split(run.graph)
        filter_name = choose_filter(split)
        rank_type = choose_rank_type()
    return BreakdownChoice(
        split=split,
        filter=filter_name,
        rank_type=rank_type,
        by=by,
        grouping=own.saved.get(by, by),
        grouping_key=own.key(by),
        metric=metric,
        side=side,
        order=order,
    )
