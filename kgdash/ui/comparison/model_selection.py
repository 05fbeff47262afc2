"""What the page Which model where shows: the summary, the matrix, what choosing costs, pairs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from kgdash.charts.breakdowns import MOST_GROUPS
from kgdash.charts.model_selection import (
    BEST,
    MEASURES,
    PICKED,
    choice_matrix,
    difference_points,
    regret_bars,
)
from kgdash.runs.call import Call
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.estimate import number, percent
from kgdash.studies.comparison.graph_parts import PARTS
from kgdash.studies.comparison.model_selection import (
    SHARING,
    describe_selection,
    pair_correlations,
    pair_differences,
    selection_summary,
    strategies,
)
from kgdash.studies.comparison.part_scores import PartScores
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.choices import choice
from kgdash.ui.widgets.table import show_table

_ORDERS = {"most evaluated triples": "evaluated", "greatest regret of ReliK": "regret"}


@dataclass(frozen=True)
class Shown:
    """The scores of the parts, what they depend on and are called, and how intervals are drawn."""

    scores: PartScores
    kind: str
    key: tuple[Hashable, ...]
    name: str
    bootstrap: Bootstrap


def show_summary(shown: Shown) -> None:
    """Say whether picking by ReliK pays, in words and on cards."""
    found = computed(
        "Summary",
        (*shown.key, "summary"),
        Call(selection_summary, shown.scores, shown.bootstrap),
    )
    first, second = describe_selection(found, shown.kind)
    say = st.info
    if shown.kind not in SHARING:
        gains, loses = found["regret_gain_low"] > 0, found["regret_gain_high"] < 0
        say = st.success if gains else st.warning if loses else st.info
    say(f"{plain(first)}  \n{plain(second)}", icon=":material/balance:")
    _cards(found, shown.kind)
    notes = [
        f"{found[key]:,} {text}"
        for key, text in (
            ("left_out", f"{shown.kind} without an evaluated triple are left out"),
            ("mrr_ties", "have several best models, any of which counts as right"),
            ("relik_ties", "have equal ReliK, where the model of higher ReliK overall is picked"),
        )
        if found[key]
    ]
    overlap = " They share triples, so that intervals flatter." * (shown.kind in SHARING)
    st.caption(
        f"A triple counts {PARTS[shown.kind]}.{overlap} Best overall is chosen by the same ranks, "
        f"which favours it. {'; '.join(notes)}{'.' * bool(notes)}"
    )


def _cards(found: dict[str, Any], kind: str) -> None:
    chance = f"chance {percent(found['chance'])}, p {number(found['p_chance'])}"
    rivals = f"{percent(found['overall_accuracy'])}, p {number(found['p_overall'])}"
    cards = (
        ("ReliK picks right ↑", percent(found['accuracy']), chance,
         "Parts where ReliK is highest for a best model; binomial test against picking at random."),
        ("Best overall right ↑", percent(found['overall_accuracy']), found["overall"],
         f"This model everywhere. McNemar's exact test: {rivals}."),
        ("MRR by ReliK's picks ↑", number(found["mrr"]),
         f"{number(found['overall_mrr'])} by the best overall",
         f"Mean over {kind}, each counting by its evaluated triples. Knowing the best: "
         f"{number(found['best_mrr'])}."),
        ("Agreement of orders ↑", number(found["spearman"]),
         f"{number(found['spearman_low'])} to {number(found['spearman_high'])}",
         "Mean over parts of Spearman's ρ between the order of the models by ReliK and by MRR, "
         f"with a 95% interval. Kendall's W is {number(found['kendall_w'])}."),
    )  # fmt: skip
    with st.container(horizontal=True):
        for label, value, beneath, help in cards:
            show_card(label, value, beneath, help)


def show_matrix(shown: Shown) -> None:
    """Show part × run with the picks marked, and what each way to choose costs."""
    scores = shown.scores
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header("Part by part")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            measure = choice("Cells show", MEASURES, "measure")
            order = choice("Order", list(_ORDERS), "order")
        table = _ordered(scores, _ORDERS[order])
        count = len(table) // len(scores.runs)
        more = f" The first {MOST_GROUPS} of {count:,}; the table has all." * (count > MOST_GROUPS)
        st.caption(
            f"{PICKED} picked by ReliK, {BEST} best MRR. The bluer, the higher in its row. "
            f"* fewer than 30 evaluated triples.{more}"
        )
        show_chart(choice_matrix(table, scores.runs, measure), "matrix", f"{shown.name}-matrix")
    with right:
        table = computed(
            "Regret", (*shown.key, "strategies"), Call(strategies, scores, shown.bootstrap)
        )
        st.header("What choosing costs")
        st.caption(
            "Regret: the part's best MRR less that of the model taken, mean over parts with 95% "
            "bootstrap intervals. Each model everywhere, picking by ReliK, and at random."
        )
        show_chart(regret_bars(table), "regret", f"{shown.name}-regret")
        columns = ["strategy", "accuracy", "regret", "mrr"]
        show_table(
            table[columns],
            "strategies",
            f"{shown.name}-strategies",
            table,
            accuracy="accuracy ↑",
            regret="regret ↓",
            mrr="MRR ↑",
        )
    with st.expander("All parts as a table"):
        show_table(scores.table, "parts", f"{shown.name}-parts")


def _ordered(scores: PartScores, by: str) -> pd.DataFrame:
    """Sort whole parts: by evaluated triples, or by what ReliK's pick costs there."""
    weight = scores.table["evaluated"]
    if by == "regret":
        weight = scores.table["regret"] * scores.table["picked"]
    key = weight.groupby(scores.table["part"]).transform("max")
    order = pd.DataFrame({"key": -key, "part": scores.table["part"]})
    return scores.table.loc[order.sort_values(["key", "part"], kind="stable").index]


def show_pairs(shown: Shown) -> None:
    """Show for two runs whether ReliK says where one beats the other."""
    scores = shown.scores
    differences = computed(
        "Differences", (*shown.key, "differences"), Call(pair_differences, scores)
    )
    pairs = {f"{a} − {b}": (a, b) for a, b in combinations(scores.runs, 2)}
    st.header("Where one beats the other")
    left, right = st.columns(2, gap="large")
    with left:
        a, b = pairs[choice("Pair", list(pairs), "pair")]
        st.caption(
            "A point is a part and grows with its evaluated triples. Top right and bottom left, "
            "ReliK says right which model is better there. Click one to see its models."
        )
        picked = clicked_point(
            difference_points(differences, a, b), "differences", f"{shown.name}-{a}-{b}"
        )
    with right:
        st.caption(
            "Share of parts where both differences have one sign, and Spearman's ρ between them; "
            "p (Holm) is corrected for the number of pairs."
        )
        table = computed("Pairs", (*shown.key, "pairs"), Call(pair_correlations, differences))
        show_table(
            table, "pairs", f"{shown.name}-pairs", same_sign="same sign ↑", p_holm="p (Holm)"
        )
    if picked is not None:
        rows = scores.table[scores.table["part"] == int(picked)]
        if len(rows):
            st.markdown(f"**{plain(rows['name'].iloc[0])}**")
            columns = ["run", "relik", "mrr", "picked", "best", "regret", "evaluated"]
            show_table(rows[columns], "part", f"{shown.name}-part-{int(picked)}")
