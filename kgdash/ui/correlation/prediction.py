"""What the page Expected performance shows: what to expect of a subgraph, and how good that is."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from kgdash.charts.correlation import task_label
from kgdash.charts.style import number
from kgdash.studies.correlation.performance_prediction import PerformancePrediction
from kgdash.studies.correlation.prediction_intervals import FEWEST
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.table import show_table

_NAMES = {
    "overlapping": "any",
    "disjoint": "none shared",
    "linear": "straight line",
    "mean": "mean, without ReliK",
}


def show_expected(row: pd.Series, task: str, level: float) -> None:
    """Show what is expected of a subgraph, beside the truth where it is known.

    :param row: of `kgdash.studies.correlation.performance_prediction.predict_subgraphs`
    :param level: of the interval
    """
    if not row["triples"]:
        st.info(
            "No known triple has both ends inside, so there is no ReliK to expect anything from: "
            "take more entities or another seed.",
            icon=":material/info:",
        )
        return
    label = task_label(task)
    known = not math.isnan(row["observed"])
    inside = row["low"] <= row["observed"] <= row["high"]
    with st.container(horizontal=True):
        _card("Mean ReliK ↑", row["relik"], f"n = {row['triples']:,} triples")
        _card(
            f"Expected {label} ↑",
            row["predicted"],
            f"{percent(level)}: {number(row['low'])} to {number(row['high'])}",
        )
        count = f"n = {row['evaluated']:,} triples"
        compared = ("inside" if inside else "outside") + f" the interval, {count}"
        _card(
            f"True {label} ↑", row["observed"], compared if known else "no evaluated triple inside"
        )
    if not row["disjoint"]:
        st.caption(
            "Fewer than "
            f"{FEWEST} of the subgraphs learnt from share no evaluated triple with this one: its "
            "own triples helped to learn what is expected of it. Smaller subgraphs overlap less."
        )


def show_checks(prediction: PerformancePrediction, drawn: int, name: str) -> None:
    """Show the errors and the coverage on subgraphs that were not learnt from.

    :param drawn: subgraphs, those left out too
    :param name: of the files
    """
    errors = prediction.errors.set_index(["scheme", "curve"])
    scheme = "disjoint" if _there(prediction) else "overlapping"
    line = errors.loc[(scheme, "linear")]
    coverage = prediction.coverage.set_index(["scheme", "level"]).loc[(scheme, prediction.level)]
    left_out = (
        f"{prediction.left_out:,} of {drawn:,} left out" if prediction.left_out else "none left out"
    )
    with st.container(horizontal=True):
        _card("R² ↑", line["r2"], "against the mean, without ReliK", _R2)
        _card(
            "Mean absolute error ↓",
            line["mae"],
            f"{number(errors.loc[(scheme, 'mean')]['mae'])} by the mean",
        )
        _card(
            f"Inside the {percent(prediction.level)} interval",
            percent(coverage["covered"]),
            f"95 %: {percent(coverage['covered_low'])} to {percent(coverage['covered_high'])}",
        )
        _card("Mean width ↓", coverage["width"], "of the interval")
        _card(
            "Subgraphs",
            f"{len(prediction.sample):,}",
            left_out,
            "Left out: without a triple to evaluate.",
        )
    if scheme == "overlapping":
        st.info(
            "Too many of these subgraphs share evaluated triples to check on ones that are new in "
            "every part: the values flatter. Smaller subgraphs overlap less.",
            icon=":material/join_inner:",
        )
    st.caption(
        "Learnt from: any subgraph of the other nine tenths, three times over; or, none shared, "
        "all those that share no evaluated triple with the one to predict. The cards show the "
        "latter where it can be had."
    )
    left, right = st.columns(2, gap="large")
    with left:
        rows = prediction.errors[prediction.errors["subgraphs"] > 0]
        shown = rows[["scheme", "curve", "mae", "rmse", "r2"]].assign(
            scheme=rows["scheme"].map(_NAMES), curve=rows["curve"].map(_NAMES)
        )
        show_table(
            shown,
            "errors",
            f"{name}-errors",
            prediction.errors,
            scheme="learnt from",
            mae="MAE ↓",
            rmse="RMSE ↓",
            r2="R² ↑",
        )
    with right:
        rows = prediction.coverage[prediction.coverage["subgraphs"] > 0]
        shown = rows[["scheme", "level", "covered", "width"]].assign(
            scheme=rows["scheme"].map(_NAMES)
        )
        show_table(
            shown,
            "coverages",
            f"{name}-coverage",
            prediction.coverage,
            scheme="learnt from",
            covered="share inside",
        )


_R2 = (
    "1 − squared error over that of the mean of the subgraphs learnt from: 1 is perfect, 0 no "
    "better than without ReliK, below 0 worse."
)


def percent(share: float) -> str:
    """Write a share in percent, to a tenth: "90 %", "86.7 %"."""
    return f"{round(100 * share, 1):g} %"


def _there(prediction: PerformancePrediction) -> bool:
    return bool(
        (
            prediction.errors.loc[prediction.errors["scheme"] == "disjoint", "subgraphs"] >= FEWEST
        ).any()
    )


def _card(label: str, value: float | str, beneath: str, help: str | None = None) -> None:
    show_card(label, value if isinstance(value, str) else number(value), beneath, help)
