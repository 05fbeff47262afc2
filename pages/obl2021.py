"""The task of OBL2021: the ten best heads and tails of every triple, and what they hit."""

import streamlit as st

from kgdash.graph import SPLITS
from kgdash.runs.call import Call
from kgdash.statistics.estimate import number
from kgdash.studies.obl2021.evaluation import compare, evaluate, scores_table
from kgdash.studies.obl2021.submission_writing import submission_bytes, submission_line
from kgdash.studies.obl2021.top_ten import predict
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.card import show_card
from kgdash.ui.widgets.choices import choice, choose_one
from kgdash.ui.widgets.downloads import made_later
from kgdash.ui.widgets.submissions_form import (
    choose_ids,
    choose_ranking,
    uploaded_submissions,
    written,
)
from kgdash.ui.widgets.table import show_table

_SOURCES = ("This run", "My own arrays")

run = current_run()
st.title("OBL2021")
st.caption(
    "Hits@10 as the OpenBioLink challenge counts it: the ten best heads and tails of each triple, "
    "equal scores in random or ordinal order, never the true answer first."
)
with settings():
    source = choose_one("Predictions", _SOURCES, "predictions")
    splits = [s for s in SPLITS if len(run.graph.splits[s])]
    split = choice("Split", splits, "obl_split", splits[-1])
    if source == _SOURCES[0]:
        filter_name, ties, seed = choose_ranking(split)
    ids = choose_ids(run.graph)

triples = run.graph.split(split)
if source == _SOURCES[0]:
    heads, tails = computed(
        "Finding the ten best",
        (run.identity, "obl2021", split, filter_name, ties, seed),
        Call(predict, run, split, ties, seed, filter_name),
    )
    names, scores = [run.name], [evaluate(heads, tails, triples)]
else:
    submissions = uploaded_submissions(run.graph, len(triples), ids)
    names = [s.name for s in submissions]
    scores = [evaluate(s.heads, s.tails, triples) for s in submissions]

compared = compare(scores).set_index(["measure", "side"])
with st.container(horizontal=True):
    for measure, side, label in (
        ("h10", "both", "Hits@10 ↑"),
        ("h10", "head", "Hits@10, heads ↑"),
        ("h10", "tail", "Hits@10, tails ↑"),
        ("mrr10", "both", "MRR@10 ↑"),
    ):
        row = compared.loc[(measure, side)]
        show_card(
            label,
            number(row["mean"]),
            f"± {number(row['standard_deviation'])}" if len(scores) > 1 else None,
            "Mean of 1/place, 0 beyond the tenth."
            if measure == "mrr10"
            else "Share of queries whose answer is among the ten. Range [0, 1], higher is better.",
        )
several = f"Mean ± standard deviation of {len(scores)} submissions, " if len(scores) > 1 else ""
st.caption(
    f"{several}{len(triples):,} {split} triples, {2 * len(triples):,} queries, "
    f"{run.graph.num_entities:,} candidate entities each."
)

if source == _SOURCES[0]:
    st.header("Submission")
    st.caption(
        f"`pred_top10`, int32, shape ({2 * len(triples):,}, 10): tails first, then heads, in the "
        f"order of the {split} triples as the run holds them. The form asks for this line too:"
    )
    st.code(submission_line(scores[0].h10), language=None)
    st.download_button(
        "Download submission",
        made_later(lambda: submission_bytes(*written(heads, tails, run.graph, ids))),
        file_name=f"{run.name}-{split}-obl2021.npz",
        mime="application/octet-stream",
        icon=":material/download:",
        key="download_submission",
        on_click="ignore",
    )
else:
    st.header("Submissions")
    table = scores_table(names, scores)
    show_table(
        table,
        "submissions",
        f"{run.name}-{split}-obl2021",
        h10="Hits@10 ↑",
        mrr10="MRR@10 ↑",
        h10_head="Hits@10, heads ↑",
        h10_tail="Hits@10, tails ↑",
        mrr10_head="MRR@10, heads ↑",
        mrr10_tail="MRR@10, tails ↑",
    )
