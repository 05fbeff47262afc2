"""Local ReliK beside local MRR in a part of the graph."""

import numpy as np
import streamlit as st

from kgdash.charts.drawing import EDGES, layout, pairs_of, subgraph_figure
from kgdash.charts.local import local_bars, relik_scatter
from kgdash.charts.style import number
from kgdash.studies.local import compare
from kgdash.ui.compute import computed
from kgdash.ui.run_picker import current_run, show_notes
from kgdash.ui.selection import selected_point
from kgdash.ui.subgraph_form import choose_subgraph
from kgdash.ui.tables import download, number_columns

run = current_run()
graph = run.graph
st.title("Local reliability")
st.caption(
    "Pick a part of the graph. **ReliK** tells, without any test triples, how high the model "
    "scores the triples there among all their negatives; the **MRRs** tell how well it predicts "
    "there."
)
show_notes(run)
choice = choose_subgraph(run)
key = (run.digest, choice)

subgraph = computed(
    "Walking the graph", (*key, "subgraph"), lambda _: run.subgraph(**dict(choice.arguments))
)
comparison = computed(
    "Comparing ReliK with MRR",
    (*key, "comparison"),
    lambda report: compare(run, subgraph, choice.evaluated, choice.relik_method, progress=report),
)
triples, figures = comparison.triples, comparison.figures
labelled = graph.labelled(triples)

with st.container(horizontal=True):
    for name, label, unit in (
        ("relik", "Mean ReliK ↑", "triples"),
        ("tail_mrr", "Tail MRR ↑", "ranks"),
        ("head_mrr", "Head MRR ↑", "ranks"),
        ("both_mrr", "Both MRR ↑", "ranks"),
        ("relation_mrr", "Relation MRR ↑", "ranks"),
    ):
        value, count = figures[name]
        st.metric(
            label,
            number(value),
            border=True,
            delta=f"n = {count:,} {unit}",
            delta_color="off",
            delta_arrow="off",
        )
if "relik_low" in figures:
    st.caption(
        f"ReliK is sampled: 95 % interval of the mean at most {number(figures['relik_low'][0])} to "
        f"{number(figures['relik_high'][0])}."
    )
evaluated = "test triples" if choice.evaluated == "test" else "known triples"
st.caption(
    f"{len(subgraph.entities)} entities, {len(triples):,} known triples inside; MRRs are "
    f"realistic, filtered by train+valid+test, over the {evaluated} inside, with all "
    f"{graph.num_entities:,} entities as candidates. {subgraph.note}"
)
if not len(triples):
    st.info(
        "No known triple has both ends inside: take more entities or another seed.",
        icon=":material/info:",
    )
    st.stop()
if not figures["both_mrr"][1]:
    st.info(
        "This subgraph holds no test triples, so there is no MRR: choose all triples above, or "
        "a larger subgraph.",
        icon=":material/info:",
    )

left, right = st.columns([3, 2], gap="large")
with left:
    st.subheader("The subgraph")
    st.caption(
        "Nodes grow with their degree inside; the star is the seed. Click a node, or the "
        "diamond on an edge, to see its numbers."
    )
    placed = computed(
        "Drawing", (*key, "layout"), lambda _: layout(subgraph.entities, pairs_of(triples))
    )
    edges = st.segmented_control(
        "Edges drawn",
        EDGES,
        default="all",
        required=True,
        format_func=lambda name: name if name == "all" else f"100 {name}",
        key="edges",
        bind="query-params",
    )
    drawn = st.plotly_chart(
        subgraph_figure(
            subgraph.entities,
            graph.entity_labels,
            subgraph.seed_entity,
            triples,
            placed,
            str(edges),
        ),
        on_select="rerun",
        selection_mode="points",
        key="drawing",
        config={"scrollZoom": True, "displaylogo": False},
    )
with right:
    st.subheader("Selected")
    picked = selected_point(drawn)
    if picked is None:
        st.caption("Nothing yet. Until you click, here are the figures of the whole subgraph.")
        st.plotly_chart(local_bars(figures), key="bars")
    else:
        ends = triples[["head", "tail"]].to_numpy()
        if picked[0] == "node":
            mine = (ends == picked[1]).any(axis=1)
            st.markdown(f"**{graph.entity_labels[picked[1]]}**")
        else:
            mine = (np.sort(ends, axis=1) == np.sort(picked[1:])).all(axis=1)
            first, second = (graph.entity_labels[e] for e in picked[1:])
            st.markdown(f"**{first} – {second}**")
        part = labelled[mine]
        with st.container(horizontal=True):
            st.metric("Mean ReliK ↑", number(part["relik"].mean()))
            st.metric("Triples", f"{len(part):,}")
            st.metric("Reciprocal rank ↑", number(part["reciprocal_rank"].mean()))
        shown = part[["head", "relation", "tail", "split", "relik", "reciprocal_rank"]]
        st.dataframe(
            shown,
            hide_index=True,
            placeholder="–",
            column_config=number_columns(shown),
            key="picked",
        )

st.subheader("ReliK against reciprocal rank")
texts = (labelled["head"] + " — " + labelled["relation"] + " → " + labelled["tail"]).tolist()
dots = st.plotly_chart(
    relik_scatter(triples, texts), on_select="rerun", selection_mode="points", key="scatter"
)
dot = selected_point(dots)
if dot is not None:
    row = labelled.iloc[[dot]]
    st.dataframe(
        row, hide_index=True, placeholder="–", column_config=number_columns(row), key="dot"
    )

st.subheader("Triples inside")
st.caption(
    "relik head/tail rank: among the negatives that share the head/tail; head/tail/relation "
    "rank: realistic filtered rank, empty where not evaluated."
)
ordered = labelled.sort_values("relik")
st.dataframe(
    ordered, hide_index=True, placeholder="–", column_config=number_columns(ordered), key="triples"
)
download(ordered, f"{run.name}-{graph.entities[subgraph.seed_entity]}-subgraph")
