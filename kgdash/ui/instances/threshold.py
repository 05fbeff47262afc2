"""The view that predicts instances true from a threshold on, and says how often that is right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.charts.classification import pr_figure
from kgdash.charts.instance_thresholds import rates_figure
from kgdash.charts.separation import MEASURE_NAMES, is_raw
from kgdash.ranking.glossary import explained
from kgdash.runs.call import Call
from kgdash.statistics.estimate import in_full, number, numbers
from kgdash.studies.instances.separation import ALL
from kgdash.studies.instances.thresholds import (
    CRITERIA,
    judged_thresholds,
    measured,
    plain_threshold,
    rates_at,
    threshold_curve,
)
from kgdash.ui.instances.separation import Separated
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.table import show_table

_NAMES = {"precision": "Precision ↑", "recall": "Recall ↑", "f1": "F1 ↑", "accuracy": "Accuracy ↑"}

_BEST = {"f1": "F1", "accuracy": "accuracy"}

#: places on the slider, per factor of ten or over the range of raw scores
_PER_DECADE, _RAW_STEPS = 20, 100


def show_threshold(separated: Separated) -> None:
    """Show the slider, what its threshold does, and what a threshold chosen on one half does."""
    choice = separated.choice
    group = st.selectbox(
        "Group",
        [ALL, *separated.groups],
        format_func=lambda g: "all groups" if g == ALL else separated.names.get(g, g),
        key="threshold_group",
        bind="query-params",
    )
    labels, values, _ = measured(separated.scored.table, choice.measure, choice.aggregate, group)
    of = (choice.measure, choice.aggregate, group)
    curve = computed(
        "Trying thresholds", (*separated.key, "curve", *of), Call(threshold_curve, labels, values)
    )
    judged = computed(
        "Judging thresholds",
        (*separated.key, "judged", *of),
        Call(judged_thresholds, separated.scored.table, *of),
    )
    threshold = _slider(separated, curve)
    at = rates_at(curve, threshold)
    with st.container(horizontal=True):
        for rate, label in _NAMES.items():
            show_card(label, number(at[rate]))
    right, wrong = int(at["true_positive"]), int(at["false_positive"])
    st.caption(
        f"From {number(threshold)} on, {right + wrong:,} of {len(values):,} instances are "
        f"predicted true, {right:,} of them rightly; of the others "
        f"{int(at['true_negative']):,} are false "
        f"and {int(at['false_negative']):,} true."
    )
    _show_curves(separated, curve, threshold, at)
    st.header("Does a chosen threshold hold?")
    st.caption(
        "Chosen on one half of the questions (reached: how good it is there), judged on the other: "
        "what is best on the instances at hand flatters."
    )
    if judged.empty:
        st.info("Too few instances: each half needs true and false ones.", icon=":material/info:")
        return
    named = judged.assign(criterion=["best F1", "best accuracy"])
    show_table(
        named,
        "judged",
        f"{separated.name}-thresholds",
        chosen_on="chosen on (instances)",
        n="judged on (instances)",
        **_NAMES,
    )


def _show_curves(
    separated: Separated, curve: pd.DataFrame, threshold: float, at: pd.Series
) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.header("At every threshold")
        show_chart(
            rates_figure(curve, threshold, at, separated.choice.measure),
            "rates",
            f"{separated.name}-rates",
        )
    with right:
        st.header("Precision and recall")
        both = curve["true_positive"].iloc[0] and curve["false_positive"].iloc[0]
        ends = curve.assign(precision=curve["precision"].fillna(1.0)) if both else curve.iloc[:0]
        counts = {
            name: int(at[name])
            for name in ("true_positive", "false_positive", "true_negative", "false_negative")
        }
        show_chart(pr_figure(ends, counts), "pr", f"{separated.name}-precision-recall")


def _slider(separated: Separated, curve: pd.DataFrame) -> float:
    """Show the slider, with buttons that set it to what is best in the group.

    Its other places do not depend on the group, and it stays where it is put.
    """
    measure = separated.choice.measure
    values = separated.scored.table[separated.column]
    low, high = float(values.min()), float(values.max())
    if is_raw(measure):
        places = [*np.unique(np.linspace(low, high, _RAW_STEPS + 1)).tolist(), np.inf]
        key, axis = f"threshold_{measure}_{low:.6g}_{high:.6g}", "linear scale"
    else:
        decade = int(np.floor(np.log10(low)))
        steps = range(-decade * _PER_DECADE + 1)
        powers = (float(f"{10 ** (decade + step / _PER_DECADE):.3g}") for step in steps)
        places = [*powers, np.inf]
        key, axis = f"threshold_{measure}_from_1e{decade}", "log scale"
    best = {criterion: plain_threshold(curve, criterion, places) for criterion in CRITERIA}
    texts = dict(zip(places, numbers(places), strict=True))
    here = {*best.values(), st.session_state.get(key, np.inf)}
    texts |= {place: in_full(place, set(texts.values())) for place in here - set(places)}
    threshold = float(
        st.select_slider(
            f"Threshold on {MEASURE_NAMES[measure]} ({axis})",
            sorted(texts),
            best["accuracy"],
            format_func=texts.__getitem__,
            key=key,
            bind="query-params",
            help=explained("threshold", "It starts at the one with the best accuracy here."),
        )
    )
    with st.container(horizontal=True):
        for criterion, place in best.items():
            st.button(
                f"Best {_BEST[criterion]}: {texts[place]}",
                key=f"best_{criterion}",
                on_click=st.session_state.__setitem__,
                args=(key, place),
                disabled=place == threshold,
            )
    return threshold
