"""What each metric is and when to use it, with the run's own values."""

import streamlit as st

from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
from kgdash.charts.candidate_subsampling import candidates_lines
from kgdash.ranking.candidate_subsampling import WHOLE_RANKS, expected_metrics
from kgdash.ranking.glossary import glossary_table
from kgdash.ranking.metric_guide import guide_table, plain_and_adjusted, uses_table
from kgdash.runs.call import Call
from kgdash.ui.metrics.relik_card import show_relik
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.results import metrics_of, ranks_of
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import choose_filter, choose_rank_type, choose_side, choose_split
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.table import download, number_columns, show_table, written

run = current_run()
st.title("Metric guide")
st.caption("What each metric is and when to use it, with this run's own values.")
with settings():
    split, side, rank_type = choose_split(run.graph), choose_side(), choose_rank_type()
with more_settings():
    filter_name = choose_filter(split)

of_ranks = (split, filter_name)
ranks = ranks_of(run, split, filter_name)
values = metrics_of(run, split, filter_name).values(side, rank_type)
sides = computed(
    "Comparing sides",
    (run.identity, "sides", *of_ranks, rank_type),
    Call(compare_sides, ranks, run.graph, rank_type),
)
whole = rank_type if rank_type in WHOLE_RANKS else "pessimistic"
fewer = computed(
    "Metrics of fewer candidates",
    (run.identity, "fewer candidates", *of_ranks, side, whole),
    Call(expected_metrics, ranks, side, whole),
)

left, right = st.columns(2, gap="large")
with left:
    st.header("Plain and adjusted")
    st.caption(
        "The index is 0 for guessing and 1 for perfect, whatever the number of candidates. The "
        "z-score says how many standard deviations lie between the model and guessing."
    )
    pairs = plain_and_adjusted(values)
    show_table(
        pairs,
        "pairs",
        f"{run.name}-{split}-plain-and-adjusted",
        index="index ↑",
        z_score="z-score ↑",
    )
with right:
    st.header("The same model among fewer candidates")
    st.caption(
        "Each query keeps its answer and a random part of its rivals (exact expectations, "
        f"{whole} ranks). Plain metrics rise as candidates get fewer. AMRI stays; adjusted MRR and "
        "Hits@10 only take off what guessing gains."
    )
    show_chart(drawn(candidates_lines, fewer), "fewer", f"{run.name}-{split}-fewer-candidates")

show_relik(run)

st.header("Sides")
for sentence in describe_sides(sides, ranks, rank_type):
    st.markdown(f"- {sentence}")
show_table(
    sides,
    "sides",
    f"{run.name}-{split}-sides",
    answers="known answers per query",
    candidates="candidates left",
    chance="MRR of guessing",
    inverse_harmonic_mean_rank="MRR ↑",
    hits_at_10="Hits@10 ↑",
    arithmetic_mean_rank="mean rank ↓",
    median_rank="median rank ↓",
    adjusted_arithmetic_mean_rank_index="AMRI ↑",
)

st.header("All metrics")
table = guide_table(values)
st.dataframe(
    written(table.drop(columns=["key", "use"])),
    hide_index=True,
    height=460,
    placeholder="–",
    column_config=number_columns(table)
    | {"metric": st.column_config.TextColumn("metric", width=240, pinned=True)},
    key="guide",
)
download(table, f"{run.name}-{split}-metric-guide")

st.header("Words")
st.table(glossary_table(), hide_index=True)

st.header("When to use which")
st.table(uses_table(), hide_index=True)
