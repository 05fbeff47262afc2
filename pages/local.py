"""Local ReliK and local MRR in a part of the graph."""

import streamlit as st

from kgdash.charts.local_reliability import relik_scatter
from kgdash.runs.call import Call
from kgdash.studies.reliability.local_comparison import compare_steps
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.refined import refined, show_refinement
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.subgraphs.form import choose_subgraph, walked
from kgdash.ui.subgraphs.local import counted_so_far, show_drawing, show_local_answer
from kgdash.ui.widgets.chart import show_chart
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.inspect_link import IDS, offer_inspection, show_triples
from kgdash.ui.widgets.selection import selected_point
from kgdash.ui.widgets.table import show_table

run = current_run()
graph = run.graph
title = st.empty()
title.title("Local reliability")
choice = choose_subgraph(run)
key = (run.identity, choice)

subgraph = walked(run, choice)
title.title(f"Local reliability around {plain(graph.entity_labels[subgraph.seed_entity])}")
comparison = refined(
    "Comparing ReliK with MRR",
    (*key, "comparison"),
    Call(compare_steps, run, subgraph, choice.evaluated, choice.relik_method),
)
triples, means = comparison.triples, comparison.means
labelled = graph.with_names(triples)
part_name = f"{run.name}-{graph.entities[subgraph.seed_entity]}-subgraph"

show_refinement(counted_so_far)
show_local_answer(run, comparison)
counted = "being counted" if comparison.method == "growing" else comparison.method
evaluated = "test triples" if choice.evaluated == "test" else "known triples"
st.caption(
    f"{len(subgraph.entities)} entities, {len(triples):,} known triples inside, their ReliK "
    f"{counted}; MRRs are realistic, filtered by train+valid+test, over the {evaluated} inside, "
    f"with all {graph.num_entities:,} entities as candidates. {subgraph.note}"
)
if not len(triples):
    st.info(
        "No known triple has both ends inside: take more entities or another seed.",
        icon=":material/info:",
    )
    st.stop()
if not means["both_mrr"].n:
    st.info(
        "This subgraph holds no test triples, so there is no MRR: choose all triples above, or "
        "a larger subgraph.",
        icon=":material/info:",
    )

show_drawing(run, comparison, key, part_name)

st.header("ReliK against reciprocal rank")
dots = show_chart(
    drawn(relik_scatter, labelled),
    "scatter",
    f"{part_name}-relik",
    on_select="rerun",
    selection_mode="points",
)
dot = selected_point(dots)
if dot is not None:
    show_table(labelled.iloc[[dot]], "dot", f"{part_name}-triple")
    offer_inspection(
        graph, triples[IDS].iloc[dot].tolist(), "inspect_dot", triples[IDS].to_numpy(), part_name
    )

st.header("Triples inside")
st.caption(
    "Ranks: realistic and filtered, empty where not evaluated. Select a row to inspect its triple."
)
first = [*IDS, "relik", "reciprocal_rank"]
ordered = labelled.sort_values("relik")[[*first, *labelled.columns.difference(first, sort=False)]]
narrow = {column: st.column_config.TextColumn(column, width=110) for column in IDS}
narrow |= dict.fromkeys(["reciprocal_rank", "relik_head_rank", "relik_tail_rank"])  # not at first
ids = triples.loc[ordered.index, IDS].to_numpy()
show_triples(graph, ids, ordered, "triples", part_name, **narrow)
