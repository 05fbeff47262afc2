"""What is shown of labelled instances: cards, groups, distributions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from kgdash.charts.instance_distribution import SHAPES, values_figure
from kgdash.charts.separation import MEASURE_NAMES, auc_figure, means_figure
from kgdash.runs import Run
from kgdash.statistics.auc_by_counts import is_told
from kgdash.statistics.estimate import number
from kgdash.studies.instances.instances import ScoredInstances
from kgdash.studies.instances.separation import Comparison
from kgdash.ui.instances.detail import show_instance
from kgdash.ui.instances.separation_form import SeparationChoice
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.choices import choose_one
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import TALL_ROW, download, number_columns, show_table, written

#: intervals, which the charts show, and more are in the table's menu
_HEADINGS = {
    "roc_auc": "ROC-AUC ↑",
    "auc_chance": "by chance",
    "cliffs_delta": "Cliff's δ ↑",
    "p_holm": "p (Holm)",
    **dict.fromkeys(f"{end}_{of}" for of in ("true", "false") for end in ("low", "high")),
    **dict.fromkeys(("auc_low", "auc_high", "average_precision", "ap_low", "ap_high")),
    **dict.fromkeys(("share_true", "cohens_d")),
}

_GREATEST = (
    " The greatest of more groundings is greater, whatever is measured: a grey line marks what "
    "their number alone gives."
)

#: letters of a group's name above which it takes several lines, and pixels of its column then
_ONE_LINE, _RULE = 40, 260


@dataclass(frozen=True)
class Separated:
    """Scored instances of a run, what was chosen to be compared, and what came out.

    ``names``: what groups are called where not by themselves. ``key``: what all of it depends on.
    """

    run: Run
    scored: ScoredInstances
    choice: SeparationChoice
    found: Comparison
    names: Mapping[str, str]
    key: tuple[Hashable, ...]

    @property
    def groups(self) -> list[str]:
        """Return the groups, those that ReliK separates best first."""
        return self.found.by_measure[self.choice.compared[0]]["group"].tolist()[:-1]

    @property
    def column(self) -> str:
        """Return the column of the table that holds the chosen measure."""
        return f"{self.choice.measure}_{self.choice.aggregate}"

    @property
    def name(self) -> str:
        """Return what files are called, without extension."""
        return f"{self.run.name}-{self.key[1]}"


def show_cards(separated: Separated) -> None:
    """Show how many instances there are, and how well each measure tells them apart."""
    found, (first, *others) = separated.found, separated.choice.compared
    overall = found.overall(first)
    true, false = int(overall["n_true"]), int(overall["n_false"])
    with st.container(horizontal=True):
        show_card("Instances", f"{true + false:,}", f"{true:,} true, {false:,} false")
        for measure in separated.choice.compared:
            row = found.overall(measure)
            show_card(
                f"AUC of {_short(measure)} ↑",
                number(row["roc_auc"]),
                f"{number(row['auc_low'])} to {number(row['auc_high'])}",
                "ROC-AUC: the chance that a true instance gets a higher value than a false one, "
                f"over all groups; 0.5 is guessing{_by_groundings(row)}. Beneath: bootstrap 95% "
                "interval. Average "
                f"precision {number(row['average_precision'])}, by guessing "
                f"{number(row['share_true'])}; "
                f"Cohen's d {number(row['cohens_d'])}.",
            )
        row = found.difference(others[0])
        show_card(
            "ReliK minus reciprocal rank",
            f"{row['difference']:+.3f}" if pd.notna(row["difference"]) else "–",
            f"{number(row['low'])} to {number(row['high'])}",
            "ROC-AUC of ReliK minus that of the reciprocal rank, on the same instances and "
            "resamples, with its bootstrap 95% interval: above 0, ReliK tells true from false "
            "better.",
        )


def show_groups(separated: Separated) -> None:
    """Show the measures side by side per group, and the means of the chosen one."""
    choice = separated.choice
    table = separated.found.by_measure[choice.measure]
    alone = any(map(is_told, table["auc_chance"]))
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Separation per group")
        st.caption(
            "ROC-AUC with bootstrap 95% intervals; the group that ReliK separates best is on top."
            + _GREATEST * alone
        )
        show_chart(
            auc_figure(separated.found.by_measure, separated.names),
            "auc",
            f"{separated.name}-roc-auc",
        )
    with right:
        st.header(f"Mean {MEASURE_NAMES[choice.measure]}")
        st.caption("Of true and of false instances, with bootstrap 95% intervals.")
        show_chart(
            means_figure(table, choice.measure, choice.aggregate, separated.names),
            "means",
            f"{separated.name}-mean-{choice.measure}",
        )
    st.header("Values per group")
    st.caption(
        f"Of {MEASURE_NAMES[choice.measure]}. p: Mann–Whitney, two-sided; p (Holm): corrected for "
        "the number of groups."
    )
    named = table.assign(group=[separated.names.get(g, g) for g in table["group"]])
    long = bool(named["group"].str.len().max() > _ONE_LINE)
    wide = {"group": st.column_config.Column("group", width=_RULE)} if long else {}
    headings = _HEADINGS if alone else {**_HEADINGS, "auc_chance": None}
    st.dataframe(
        written(named),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(named, **headings, **wide),
        row_height=TALL_ROW if long else None,
        key="groups",
    )
    download(named, f"{separated.name}-separation")
    with st.expander("How much larger the ROC-AUC of ReliK is than the others'"):
        against = separated.found.differences
        named = against.assign(
            group=[separated.names.get(g, g) for g in against["group"]],
            against=[MEASURE_NAMES[m] for m in against["against"]],
        )
        show_table(named, "differences", f"{separated.name}-differences")


def show_distributions(separated: Separated) -> None:
    """Show every instance's value; the triples of the one that is clicked."""
    shape = choose_one("Drawn as", SHAPES, "shape")
    st.caption(
        "Best separated groups first. Click a point to see its triples; boxes and violins are of "
        "all instances, points of 150 per group and label at most."
    )
    choice = separated.choice
    point = clicked_point(
        values_figure(
            separated.scored.table,
            choice.measure,
            choice.aggregate,
            separated.groups,
            separated.names,
            str(shape),
        ),
        "values",
        f"{separated.name}-{choice.measure}-of-instances",
    )
    if point:
        show_instance(separated.run, separated.scored, int(point[0]), choice.measure)


def show_all(separated: Separated) -> None:
    """Show the table of all instances; the triples of the one that is selected."""
    st.caption("Select a row to see the triples of an instance.")
    chosen = pick_instance(
        separated, separated.scored.table, "instances", f"{separated.name}-instances"
    )
    if chosen is not None:
        show_instance(separated.run, separated.scored, chosen, separated.choice.measure)


def pick_instance(
    separated: Separated, table: pd.DataFrame, key: str, name: str, most: int | None = None
) -> int | None:
    """Show a table of instances and return the number of the selected one.

    :param table: rows of the scored instances' table
    :param key: of the widget
    :param name: of files, without an extension; they hold all rows
    :param most: rows shown; the label is not, where it is that of all
    """
    measures = [f"{measure}_{separated.choice.aggregate}" for measure in separated.choice.compared]
    measures.sort(key=lambda column: column != separated.column)
    columns = [measures[0], "question", "answer", "label", "group", "instance", "groundings"]
    listed = table[[*columns, *measures[1:]]]
    listed = listed.assign(
        group=[separated.names.get(g, g) for g in listed["group"]],
        label=["true" if label else "false" for label in listed["label"]],
    )
    shown = listed if most is None else listed.head(most).drop(columns="label")
    row = selected_row(
        st.dataframe(
            written(shown),
            hide_index=True,
            column_config=number_columns(shown),
            on_select="rerun",
            selection_mode="single-row",
            key=key,
        )
    )
    download(listed, name)
    return int(shown.iloc[row]["instance"]) if row is not None and row < len(shown) else None


def _by_groundings(row: pd.Series) -> str:
    if not is_told(row["auc_chance"]):
        return ""
    return f", and the number of groundings alone gives about {number(row['auc_chance'])}"


def _short(measure: str) -> str:
    return MEASURE_NAMES[measure.removesuffix("_answer")]
