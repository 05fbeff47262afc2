"""Rank-based metrics per side and rank type."""

import streamlit as st

from kgdash.breakdowns.verdicts import sides_verdict
from kgdash.charts.metrics import metric_bars, rank_ecdf
from kgdash.graph.filter_advice import leak_warning, use_case
from kgdash.ranking.main_table import evaluated_text
from kgdash.ranking.metric_lookup import leading_first, metric_records
from kgdash.ranking.metrics import tie_summary
from kgdash.statistics.estimate import number
from kgdash.ui.metrics.cards import show_cards
from kgdash.ui.metrics.latex_button import offer_latex
from kgdash.ui.metrics.restriction_form import choose_restriction, restriction_text
from kgdash.ui.runtime.results import metrics_of, ranks_of
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.choices import (
    choose_filter,
    choose_metric,
    choose_number,
    choose_rank_type,
    choose_side,
    choose_split,
)
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.table import download, written

run = current_run()
st.title("All metrics")

with settings():
    split, side, rank_type = choose_split(run.graph), choose_side(), choose_rank_type()
with more_settings():
    filter_name = choose_filter(split)
    k = choose_number("k of Hits@k", (1, run.graph.num_entities), 10, "k")
only = choose_restriction(run.graph)
if warning := leak_warning(split, filter_name):
    st.warning(f"{warning[0].upper()}{warning[1:]}.", icon=":material/warning:")

ks = tuple(sorted({1, 3, 5, 10, int(k)}))
ranks = ranks_of(run, split, filter_name, only)
values = metrics_of(run, split, filter_name, ks, only)
guide = metric_records(ks)

st.markdown(sides_verdict(ranks, rank_type))
slot, filtered = st.empty(), filter_name != "none"
show_cards(slot, guide, int(k), values.values(side, rank_type), awaited=filtered)
candidates = run.graph.num_entities if only.entities is None else len(only.entities)
st.caption(
    f"{side.capitalize()} side{'s' if side == 'both' else ''}, {rank_type} ranks, "
    f"{'raw' if filter_name == 'none' else f'filtered by {filter_name}'} "
    f"({use_case(filter_name)}), "
    f"{len(ranks) // 2:,} {split} triples, "
    f"{candidates:,} candidate entities each."
    f"{restriction_text(only, run.graph, split)}"
)

ties = tie_summary(ranks)
# Of fewer ties the chart of the metric says that they play no role.
if ties["mrr_gap"] > 1e-3 * values.value("mrr"):
    message = (
        f"{ties['tied_share']:.1%} of the true answers share their score with another candidate "
        f"(largest group: {ties['largest_tie']:,} equal scores); the MRR of both sides lies "
        f"{number(ties['mrr_gap'])} apart between optimistic and pessimistic ranks."
    )
    if ties["mrr_gap"] > 0.01:
        st.warning(
            f"{message} So many equal scores hint at saturated or constant scores: read the "
            "realistic ranks.",
            icon=":material/equal:",
        )
    else:
        st.info(message, icon=":material/equal:")

left, right = st.columns(2, gap="large")
with left:
    st.header("One metric, every side and rank type")
    metric = choose_metric(metrics=guide)
    show_chart(drawn(metric_bars, values, metric), "bars", f"{run.name}-{split}-{metric.key}")
with right:
    st.header("Distribution of ranks")
    st.caption(f"Share of {rank_type} ranks up to r. Dotted lines: r = {', '.join(map(str, ks))}.")
    show_chart(
        drawn(rank_ecdf, ranks[["side", rank_type]], rank_type, ks),
        "ecdf",
        f"{run.name}-{split}-ranks",
    )

st.header("Every metric")
frame = values.frame.loc[leading_first(values.frame.index)]
frame.columns = [f"{s} · {t}" for s, t in frame.columns]
frame.insert(0, "metric", [f"{guide[key].label} {guide[key].arrow}".strip() for key in frame.index])
frame["range"] = [guide[key].value_range for key in frame.index]
frame["depends on |E|"] = [
    "yes" if guide[key].depends_on_num_entities else "no" for key in frame.index
]
# Where ties play no role, three columns of each side say the same.
alike = ties["mrr_gap"] <= 1e-3 * values.value("mrr")
kept = {"metric", "range", *(f"{each} · {rank_type}" for each in ("head", "tail", "both"))}
later = dict.fromkeys(set(frame) - kept if alike else ["depends on |E|"])
st.dataframe(
    written(frame),
    hide_index=True,
    height=420,
    column_config={"metric": st.column_config.TextColumn("metric", pinned=True)} | later,
    key="all_metrics",
)
download(frame.rename_axis("key").reset_index(), f"{run.name}-{split}-metrics")
offer_latex(
    {run.name: values},
    evaluated_text(run.graph.name, split, filter_name, len(ranks) // 2, candidates),
    f"{run.name}-{split}-metrics",
)

if filtered:
    raw = metrics_of(run, split, "none", ks, only)
    show_cards(slot, guide, int(k), values.values(side, rank_type), raw.values(side, rank_type))
