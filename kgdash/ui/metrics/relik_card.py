"""What ReliK is, with a triple of the run worked out."""

import streamlit as st

from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.markdown import plain


def show_relik(run: Run) -> None:
    """Say how ReliK is computed and read, by the first triple that was held out."""
    st.header("ReliK")
    st.markdown(
        "How far a triple stands above what is not known of its entities, without test triples: "
        "**ReliK = ½ (1/rank_H + 1/rank_T)**, in (0, 1]. rank_H is the triple's place among the "
        "negatives of its head (h, r′, t′), all triples with that head in no split; rank_T "
        "likewise among those of its tail. 1: it scores above all of them. 0.1: about ten of each "
        "score higher. ReliK of a part of the graph is the mean over its triples. (Egger et al., "
        "WWW 2024)"
    )
    graph = run.graph
    held_out = next((graph.splits[s] for s in ("test", "valid") if len(graph.splits[s])), None)
    if held_out is None:
        return
    relik = computed(
        "ReliK of a triple",
        (run.identity, "worked triple"),
        Call(run.relik, triples=held_out[:1]),
    )
    row = graph.with_names(relik).iloc[0]
    ranks = [int(row[f"{side}_rank"]) for side in ("head", "tail")]
    st.markdown(
        f"For example {plain(row['head'])}, {plain(row['relation'])}, {plain(row['tail'])}: "
        f"{ranks[0] - 1:,} negatives of its head and {ranks[1] - 1:,} of its tail score higher, so "
        f"ReliK = ½ (1/{ranks[0]:,} + 1/{ranks[1]:,}) = **{number(row['relik'])}**."
    )
