"""What the scores behind the ranks are like: ties, constant and saturated scores, NaN."""

import streamlit as st

from kgdash.charts.score_health import gap_bars, query_text, score_histogram, tie_bars
from kgdash.health.of_run import score_health
from kgdash.runs.call import Call
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.chart import clicked_point, show_chart
from kgdash.ui.widgets.choices import choose_filter, choose_side, choose_split
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.finding_cards import show_findings
from kgdash.ui.widgets.inspect_link import IDS, offer_inspection
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, show_table, written

run = current_run()
st.title("Score health")
st.caption("All scores that the ranks compare: are they fit to be ranked?")
with settings():
    split, side = choose_split(run.graph), choose_side()
with more_settings():
    filter_name = choose_filter(split)

key = (run.identity, "score health", split, filter_name)
about = f"Looking at all scores of {split}"
health = computed(about, key, Call(score_health, run, split, filter_name))
tables = computed("Checks", (*key, side), Call(health.tables, side))
name = f"{run.name}-{split}-{side}"
show_findings(computed("Findings", (*key, side, "findings"), Call(health.findings, side)))

st.header("True answers against candidates")
summary = tables["summary"]
true, rivals = (int(count) for count in summary["finite"])
st.caption(
    f"Shares of {true:,} scores of true answers and {rivals:,} of candidates, none sampled: a "
    "candidate counts once for each triple that it competes with."
)
log = st.toggle("Logarithmic shares", key="log", bind="query-params")
show_chart(drawn(score_histogram, tables["histogram"], log), "histogram", f"{name}-scores")
# Where all scores are finite, four columns say so once: "all".
odd = ["finite", "plus_infinite", "minus_infinite", "nan"]
later = dict.fromkeys(odd if (summary["finite"] == summary["scores"]).all() else ())
show_table(summary, "summary", f"{name}-scores", of="scores of", scores="all", **later)
with st.expander("The histogram as a table"):
    show_table(tables["histogram"], "bins", f"{name}-score-histogram")

if len(tables["missing"]):
    st.header("Whose scores are NaN")
    st.caption("Those first whose every score is NaN: their embeddings are the cause.")
    show_table(tables["missing"], "missing", f"{name}-nan")

if len(tables["entities"]):
    st.header("Entities that always tie")
    st.caption("Entities of a group have equal scores in every query: nothing tells them apart.")
    show_table(tables["entities"], "twins", f"{name}-always-tied")

if health.ranks is None:
    st.info("Ties and gaps are about ranks, of which this model has none.")
    st.stop()

st.header("Largest ties")
ties, row = tables["ties"], None
if len(ties):
    st.caption("Select a row, or click a bar, to see who ties with the true answer.")
    left, right = st.columns(2, gap="large")
    with left:
        point = clicked_point(drawn(tie_bars, ties), "tie_bars", f"{name}-ties")
    with right:
        listed = ties[["equal_scores", *ties.columns.drop("equal_scores")]]
        row = selected_row(
            st.dataframe(
                written(listed),
                hide_index=True,
                column_config=number_columns(listed, equal_scores="tied"),
                on_select="rerun",
                selection_mode="single-row",
                key=f"ties_{split}_{filter_name}_{side}",
            )
        )
        download(ties, f"{name}-ties")
    row = point if row is None else row
else:
    st.caption("No true answer shares its score with another candidate.")
if row is not None and int(row) < len(ties):
    picked = ties.iloc[int(row)].to_dict()
    ids = health.tie_groups(side)[IDS].to_numpy()
    tied = health.tied_names(tuple(ids[int(row)]), picked["side"])
    st.markdown(
        f"**{plain(query_text(picked))}**: {len(tied):,} candidates have the score of "
        f"{plain(str(picked[picked['side']]))}."
    )
    offer_inspection(run.graph, ids[int(row)].tolist(), "inspect_tie", ids, f"{name}-ties")
    show_table(tied, "tied", f"{name}-tied-with-row-{int(row) + 1}")

st.header("Gap per relation")
relations = tables["relations"]
st.caption("MRR by optimistic less MRR by pessimistic ranks: how much equal scores blur it.")
listed = relations.assign(tied_share=100 * relations["tied_share"])
listed.insert(1, "gap", listed.pop("gap"))
if relations["gap"].max() >= 0.001:
    show_chart(drawn(gap_bars, relations, side), "gaps", f"{name}-gaps")
else:
    st.caption("No relation's MRR moves by 0.001 by how ties count.")
with st.expander("The gaps as a table"):
    show_table(
        listed,
        "relations",
        f"{name}-gap-per-relation",
        relations,
        group="relation",
        count="ranks",
        value="realistic",
        tied_share="tied %",
        largest_tie=None,
    )
