"""Probabilities of answers: how sure is the model, and how often is it right when it is?"""

import streamlit as st

from kgdash.charts.classification import confidence_figure
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number, percent
from kgdash.studies.probability.calibration import WAYS
from kgdash.studies.probability.calibration_report import ERRORS
from kgdash.studies.probability.calibration_summary import (
    calibration_by_groups,
    summarize_calibration,
)
from kgdash.studies.probability.query_groups import GROUPINGS
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_one, group_name
from kgdash.ui.widgets.table import show_table

_NAMES = {
    "fitted": "fitted, by side and relation",
    "uncalibrated": "scores as they are",
    "temperature": "one temperature",
    "platt": "Platt's curve",
}
_ABOUT = {
    "ece": "Mean distance between confidence and share right, over 15 equally wide bins.",
    "ace": "The same over 15 bins of equally many queries.",
    "nll": "Mean −log p of the true answer.",
    "brier": "Mean Σ (p − truth)² over the candidates, from 0 to 2.",
}

run = current_run()
st.title("Probabilities")
key = (run.identity, "probabilities")
found = computed("Fitting probabilities on validation", key, Call(summarize_calibration, run))
errors = found.errors
sure, right = found.sure.iloc[0]
answer = "The model gives no first answer a confidence of 80% or more."
if sure:
    answer = (
        f"Where the model is at least **80% sure** of its first answer, that is right in "
        f"**{percent(right)}** of {int(sure):,} test queries."
    )
st.markdown(answer)
fitted = errors[errors["way"] == "fitted"].set_index("error")
with st.container(horizontal=True):
    for error, title in ERRORS.items():
        row = fitted.loc[error]
        ends = f"{number(row['low'])} to {number(row['high'])}"
        show_card(f"{title.capitalize()} ↓", number(row["value"]), ends, _ABOUT[error])

left, other = st.columns(2, gap="large")
with left:
    st.header("Confidence and share right")
    by_way = dict(iter(found.diagrams.groupby("way")))
    bins = {_NAMES[way]: by_way[way] for way in ("fitted", "uncalibrated")}
    show_chart(confidence_figure(bins), "diagram", f"{run.name}-reliability-diagram")
    st.caption(
        "On the dashed line, answers are right as often as the confidence says. True facts that "
        "nobody wrote down count as wrong. Validation queries still have test triples among their "
        "candidates: on dense graphs, answers are right more often than predicted."
    )
with other:
    st.header("Compared with other ways")
    wide = errors.pivot(index="way", columns="error", values="value").loc[list(WAYS)]
    wide = wide[list(ERRORS)].rename(index=_NAMES).reset_index()
    titles = {error: f"{error.upper() if error != 'brier' else 'Brier'} ↓" for error in ERRORS}
    show_table(
        wide, "ways", f"{run.name}-calibration-errors", errors, way="probabilities", **titles
    )

st.header("Where are they right?")
about = "Community, degree and ReliK are those of the entity that a query names, over its training "
by = choose_one(
    "Queries by", list(GROUPINGS), "by", "relik", f"{about}triples.", format_func=group_name
)
groups = computed("Probabilities by group", (*key, by), Call(calibration_by_groups, run, by))
shown = ["group", "queries", "right", "confidence", "ece", "ece_low", "ece_high", "nll"]
show_table(
    groups[shown].rename(columns={"right": "share_right", "confidence": "mean_confidence"}),
    "groups",
    f"{run.name}-calibration-by-{by}",
    groups,
    group={"relik": "ReliK of the entity", "degree": "degree of the entity"}.get(by, by),
    share_right="share right ↑",
    ece="ECE ↓",
    ece_low="95% low",
    ece_high="95% high",
    nll="NLL ↓",
)
