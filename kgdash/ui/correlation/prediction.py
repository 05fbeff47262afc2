"""What the page Expected performance shows: what to expect of a subgraph, and how good that is."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from kgdash.charts.correlation import task_label
from kgdash.statistics.estimate import number, percent
from kgdash.studies.correlation.performance_prediction import PerformancePrediction
from kgdash.studies.correlation.prediction_intervals import FEWEST
from kgdash.studies.correlation.prediction_verdict import checked_scheme
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
        show_card("Mean ReliK ↑", number(row["relik"]), f"n = {row['triples']:,} triples")
        show_card(
            f"Expected {label} ↑",
            number(row["predicted"]),
            f"{percent(level)}: {number(row['low'])} to {number(row['high'])}",
        )
        count = f"n = {_counted(row['evaluated'], task)}"
        compared = ("inside" if inside else "outside") + f" the interval, {count}"
        beneath = compared if known else "no evaluated triple inside"
        show_card(f"Measured {label} ↑", number(row["observed"]), beneath)
    if not row["disjoint"]:
        st.caption(
            "Fewer than "
            f"{FEWEST} of the subgraphs learnt from share no evaluated triple with this one: its "
            "own triples helped to learn what is expected of it. Smaller subgraphs overlap less."
        )


def _counted(triples: int, task: str) -> str:
    """Say of how much a measured value is the mean, as Local reliability does: "22 ranks"."""
    if task == "accuracy":
        return f"{triples:,} triples"
    return f"{triples * (2 if task.startswith('both') else 1):,} ranks"


def show_checks(prediction: PerformancePrediction, drawn: int, name: str) -> None:
    """Show the errors and the coverage on subgraphs that were not learnt from.

    :param drawn: subgraphs, those left out too
    :param name: of the files
    """
    scheme = checked_scheme(prediction)
    _show_check_cards(prediction, scheme, drawn)
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
        names = {"scheme": "learnt from", "mae": "MAE ↓", "rmse": "RMSE ↓", "r2": "R² ↑"}
        show_table(shown, "errors", f"{name}-errors", prediction.errors, **names)
    with right:
        rows = prediction.coverage[prediction.coverage["subgraphs"] > 0]
        shown = rows[["scheme", "level", "covered", "width"]].assign(
            scheme=rows["scheme"].map(_NAMES)
        )
        names = {"scheme": "learnt from", "covered": "share inside"}
        show_table(shown, "coverages", f"{name}-coverage", prediction.coverage, **names)


def _show_check_cards(prediction: PerformancePrediction, scheme: str, drawn: int) -> None:
    errors = prediction.errors.set_index(["scheme", "curve"])
    line, mean = errors.loc[(scheme, "linear")], errors.loc[(scheme, "mean")]
    coverage = prediction.coverage.set_index(["scheme", "level"]).loc[(scheme, prediction.level)]
    ends = [percent(coverage[name], 1) for name in ("covered_low", "covered_high")]
    left_out = prediction.left_out
    with st.container(horizontal=True):
        show_card("R² ↑", number(line["r2"]), "against the mean, without ReliK")
        show_card(
            "Mean absolute error ↓", number(line["mae"]), f"{number(mean['mae'])} by the mean"
        )
        show_card(
            f"Inside the {percent(prediction.level)} interval",
            percent(coverage["covered"], 1),
            f"95%: {ends[0]} to {ends[1]}",
        )
        show_card("Mean width ↓", number(coverage["width"]), "of the interval")
        show_card(
            "Subgraphs",
            f"{len(prediction.sample):,}",
            f"{left_out:,} of {drawn:,} left out" if left_out else "none left out",
            "Left out: without a triple to evaluate.",
        )
