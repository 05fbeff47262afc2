"""The task of OBL2021: the ten best heads and tails of every triple, and what they hit."""

import streamlit as st

from kgdash.charts.style import number
from kgdash.graph import FILTERS, SPLITS, default_filter
from kgdash.studies.obl2021.submission_files import submission_bytes, submission_line
from kgdash.studies.obl2021.top_ten import TIES, compare, evaluate, figures_table, predict
from kgdash.ui.runtime.computed import computed
from kgdash.ui.runtime.run_picker import current_run, show_notes
from kgdash.ui.widgets.submissions_form import choose_ids, uploaded_submissions, written
from kgdash.ui.widgets.table import show_table

_SOURCES = ("This run", "My own arrays")

run = current_run()
st.title("OBL2021")
st.caption(
    "Hits@10 as the OpenBioLink challenge counts it: the ten best heads and tails of each triple, "
    "equal scores in random or ordinal order, never the true answer first."
)
show_notes(run)
source = st.segmented_control(
    "Predictions",
    _SOURCES,
    default=_SOURCES[0],
    required=True,
    key="predictions",
    bind="query-params",
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    splits = [s for s in SPLITS if len(run.graph.splits[s])]
    split = st.selectbox(
        "Split", splits, index=len(splits) - 1, key="obl_split", bind="query-params", width=140
    )
    if source == _SOURCES[0]:
        filters = list(FILTERS)
        filter_name = st.selectbox(
            "Known triples filtered out",
            filters,
            index=filters.index(default_filter(split)),
            format_func=lambda name: "none (raw)" if name == "none" else name,
            key=f"obl_filter_{split}",
            bind="query-params",
            width=220,
            help="Known answers other than the triple's own are no candidates.",
        )
        ties = st.selectbox(
            "Equal scores",
            TIES,
            key="ties",
            bind="query-params",
            width=150,
            help="random: in an order drawn by the seed; ordinal: by ascending id.",
        )
        seed = 0
        if ties == "random":
            seed = st.number_input(
                "Random seed", 0, 10**9, 0, key="tie_seed", bind="query-params", width=150
            )
    ids = choose_ids(run.graph)

triples = run.graph.split(split)
if source == _SOURCES[0]:
    heads, tails = computed(
        "Finding the ten best",
        (run.digest, "obl2021", split, filter_name, ties, int(seed)),
        lambda report: predict(run, split, ties, int(seed), filter_name, report),
    )
    names, figures = [run.name], [evaluate(heads, tails, triples)]
else:
    submissions = uploaded_submissions(run.graph, len(triples), ids)
    names = [s.name for s in submissions]
    figures = [evaluate(s.heads, s.tails, triples) for s in submissions]

compared = compare(figures).set_index(["measure", "side"])
with st.container(horizontal=True):
    for measure, side, label in (
        ("h10", "both", "Hits@10 ↑"),
        ("h10", "head", "Hits@10, heads ↑"),
        ("h10", "tail", "Hits@10, tails ↑"),
        ("mrr10", "both", "MRR@10 ↑"),
    ):
        row = compared.loc[(measure, side)]
        st.metric(
            label,
            number(row["mean"]),
            f"± {number(row['standard_deviation'])}" if len(figures) > 1 else None,
            delta_color="off",
            delta_arrow="off",
            border=True,
            help="Mean of 1/place, 0 beyond the tenth."
            if measure == "mrr10"
            else "Share of queries whose answer is among the ten. Range [0, 1], higher is better.",
        )
several = f"Mean ± standard deviation of {len(figures)} submissions, " if len(figures) > 1 else ""
st.caption(
    f"{several}{len(triples):,} {split} triples, {2 * len(triples):,} queries, "
    f"{run.graph.num_entities:,} candidate entities each."
)

if source == _SOURCES[0]:
    st.subheader("Submission")
    st.caption(
        f"`pred_top10`, int32, shape ({2 * len(triples):,}, 10): tails first, then heads, in the "
        f"order of the {split} triples as the run holds them. The form asks for this line too:"
    )
    st.code(submission_line(figures[0]["h10"]), language=None)
    st.download_button(
        "Download submission",
        lambda: submission_bytes(*written(heads, tails, run.graph, ids)),
        file_name=f"{run.name}-{split}-obl2021.npz",
        mime="application/octet-stream",
        icon=":material/download:",
        key="download_submission",
        on_click="ignore",
    )
else:
    st.subheader("Submissions")
    table = figures_table(names, figures)
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
