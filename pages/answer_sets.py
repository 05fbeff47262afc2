"""Answer sets: how many candidates hold the true answer as often as promised, and where not?"""

from dataclasses import replace

import streamlit as st

from kgdash.charts.group_rows import coverage_figure
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number, percent, whole_or_half
from kgdash.studies.probability.answer_scores import SCORES
from kgdash.studies.probability.answer_sets import (
    EPSILONS,
    IN_ORDER,
    AnswerSetSetting,
    answer_sets,
    compare_conditions,
)
from kgdash.studies.probability.query_groups import GROUPINGS
from kgdash.studies.probability.set_tables import CONDITIONS
from kgdash.studies.probability.set_verdict import comparison_verdict, coverage_verdict
from kgdash.ui.metrics.answer_sets import choose_set_group, show_comparison, show_groups, show_sets
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.choices import choice, choose_one, group_name

run = current_run()
st.title("Answer sets")
with settings():
    promises = {f"{1 - epsilon:.0%}": epsilon for epsilon in EPSILONS}
    promise = choose_one("Promised coverage", list(promises), "promise", "90%")
    score = choice("Candidates ordered by", SCORES, "score", "softmax")
    groups = choice("Thresholds", CONDITIONS, "groups", "none")
setting = AnswerSetSetting(promises[promise], score, groups)
key = (run.identity, "answer sets", *vars(setting).values())
sets = computed("Making answer sets", key, Call(answer_sets, run, setting))
found = sets.summary()
st.markdown(
    computed("Coverage against the promise", (*key, "verdict"), Call(coverage_verdict, sets))
)
with st.container(horizontal=True):
    ends = f"{percent(found['low'], 1)} to {percent(found['high'], 1)}"
    covered = percent(found["coverage"], 1)
    show_card("Coverage", covered, ends, "Share of sets with the true answer.")
    show_card("Mean size ↓", number(found["mean_size"]), f"of {run.graph.num_entities:,} entities")
    show_card("Median size ↓", whole_or_half(found["median_size"]), "half of the sets hold no more")
    empty = float((sets.queries["size"] == 0).mean())
    show_card("Empty sets ↓", percent(empty, 1), "hold no candidate at all")

st.header("Where is the promise kept?")
by = choose_one("Queries by", list(GROUPINGS), "asked_by", "community", format_func=group_name)
table = computed("Coverage by group", (*key, by), Call(sets.by_groups, by))
name = f"{run.name}-coverage-by-{by}"
left, right = st.columns(2, gap="large")
with left:
    st.caption(
        "Bars: 95% intervals with these thresholds, each by itself. Orange: below the promise, "
        "blue: above, at p ≤ 0.05 after Holm's correction for the number of groups. Hollow: fewer "
        "than 30 queries. Click a point to see the group's sets."
    )
    figure = coverage_figure(table, setting.epsilon, by in IN_ORDER)
    row = choose_set_group(figure, table, by, name)
with right:
    plain = replace(setting, groups="none")
    compared = computed(
        "Comparing thresholds",
        (run.identity, "answer sets compared", setting.epsilon, score, by),
        Call(compare_conditions, run, plain, by),
    )
    st.markdown(comparison_verdict(compared, by))
    show_comparison(compared, f"{run.name}-answer-set-thresholds-by-{by}")
show_groups(table, by, name)
show_sets(sets, by, None if row is None else table.iloc[row], key)
