"""What the page Prognosis shows: what to expect of a subgraph, and how good that is."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from kgdash.charts.correlation import task_label
from kgdash.charts.style import number
from kgdash.studies.correlation.performance_prediction import Prognosis
from kgdash.studies.correlation.prediction_curves import FEWEST
from kgdash.ui.widgets.table import show_table

_NAMES = {
    "any": "any",
    "apart": "none shared",
    "linear": "straight line",
    "isotonic": "isotonic",
    "mean": "mean, without ReliK",
    "cv+": "CV+",
    "split": "split conformal",
    "normal": "normal theory",
}


def show_expected(row: pd.Series, task: str, level: float) -> None:
    """Show what is expected of a subgraph, beside the truth where it is known.

    :param row: of `kgdash.studies.correlation.performance_prediction.expect`
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
        told = ("inside" if inside else "outside") + f" the interval, {count}"
        _card(f"True {label} ↑", row["observed"], told if known else "no evaluated triple inside")
    if not row["apart"]:
        st.caption(
            "Fewer than "
            f"{FEWEST} of the subgraphs learnt from share no evaluated triple with this one: its "
            "own triples helped to learn what is expected of it. Smaller subgraphs overlap less."
        )


def show_checks(found: Prognosis, drawn: int, name: str) -> None:
    """Show the errors and the coverage on subgraphs that were not learnt from.

    :param drawn: subgraphs, those left out too
    :param name: of the files
    """
    errors = found.errors.set_index(["scheme", "curve"])
    scheme = "apart" if _there(found) else "any"
    own = errors.loc[(scheme, found.curve)]
    held = found.coverage[
        (found.coverage["scheme"] == scheme)
        & (found.coverage["interval"] == found.interval)
        & (found.coverage["level"] == found.level)
    ].iloc[0]
    left_out = f"{found.left_out:,} of {drawn:,} left out" if found.left_out else "none left out"
    with st.container(horizontal=True):
        _card("R² ↑", own["r2"], "against the mean, without ReliK", _R2)
        _card(
            "Mean absolute error ↓",
            own["mae"],
            f"{number(errors.loc[(scheme, 'mean')]['mae'])} by the mean",
        )
        _card(
            f"Inside the {percent(found.level)} interval",
            percent(held["covered"]),
            f"95 %: {percent(held['covered_low'])} to {percent(held['covered_high'])}",
        )
        _card("Mean width ↓", held["width"], "of the interval")
        _card(
            "Subgraphs",
            f"{len(found.sample):,}",
            left_out,
            "Left out: without a triple to evaluate.",
        )
    if scheme == "any":
        st.info(
            "Too many of these subgraphs share evaluated triples to check on ones that are new in "
            "every part: the figures flatter. Smaller subgraphs overlap less.",
            icon=":material/join_inner:",
        )
    st.caption(
        "Learnt from: any subgraph of the other nine tenths, three times over; or, none shared, "
        "all those that share no evaluated triple with the one to predict. The cards show the "
        "latter where it can be had."
    )
    left, right = st.columns(2, gap="large")
    with left:
        rows = found.errors[found.errors["subgraphs"] > 0]
        shown = rows[["scheme", "curve", "mae", "rmse", "r2"]].assign(
            scheme=rows["scheme"].map(_NAMES), curve=rows["curve"].map(_NAMES)
        )
        show_table(
            shown,
            "errors",
            f"{name}-errors",
            found.errors,
            scheme="learnt from",
            mae="MAE ↓",
            rmse="RMSE ↓",
            r2="R² ↑",
        )
    with right:
        rows = found.coverage[found.coverage["subgraphs"] > 0]
        shown = rows[["scheme", "interval", "level", "covered", "width"]].assign(
            scheme=rows["scheme"].map(_NAMES), interval=rows["interval"].map(_NAMES)
        )
        show_table(
            shown,
            "coverages",
            f"{name}-coverage",
            found.coverage,
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


def _there(found: Prognosis) -> bool:
    return bool((found.errors.loc[found.errors["scheme"] == "apart", "subgraphs"] >= FEWEST).any())


def _card(label: str, value: float | str, beneath: str, help: str | None = None) -> None:
    st.metric(
        label,
        value if isinstance(value, str) else number(value),
        beneath,
        delta_color="off",
        delta_arrow="off",
        border=True,
        help=help,
    )
