"""Does ReliK tell true answers and predictions from false ones?"""

import streamlit as st

from kgdash.charts.instance_values import values_figure
from kgdash.charts.separation import auc_figure, means_figure
from kgdash.charts.style import number
from kgdash.studies.instances import CHAINS, instance_triples, score_instances
from kgdash.studies.rules import readings
from kgdash.studies.separation import ALL, separation
from kgdash.ui.compute import computed
from kgdash.ui.figures import show_chart
from kgdash.ui.instances_form import choose_instances
from kgdash.ui.run_picker import current_run, show_notes
from kgdash.ui.selection import selected_point, selected_row
from kgdash.ui.tables import download, number_columns, show_table

_MEASURES = {
    "ReliK": "relik",
    "ReliK of the answer's triples": "relik_head",
    "reciprocal rank": "reciprocal_rank",
    "reciprocal rank of the answer's triples": "reciprocal_rank_head",
}

run = current_run()
st.title("Queries and rules")
st.caption(
    "Each instance is a set of triples that leads to an answer, labelled true or false. If ReliK "
    "is worth its name, true instances get the higher values."
)
show_notes(run)
choice = choose_instances(run)
with st.container(horizontal=True, vertical_alignment="bottom"):
    measure = _MEASURES[
        str(st.selectbox("Measure", list(_MEASURES), key="measure", bind="query-params", width=300))
    ]
    chains = st.segmented_control(
        "Several chains to an answer",
        CHAINS,
        default="best",
        required=True,
        key="chains",
        bind="query-params",
        help="An answer may be reached in several ways: take the best of them, or their mean.",
    )

instances = computed("Finding instances", (run.digest, *choice.key), choice.make)
scored = computed(
    "Scoring instances",
    (run.digest, *choice.key, "scored"),
    lambda report: score_instances(run, instances, report),
)
compared = ("relik", "reciprocal_rank")
tables = {m: separation(scored.table, m, chains) for m in dict.fromkeys((*compared, measure))}
separated, by_measure = tables[measure], {m: tables[m] for m in compared}
names = readings(scored.table["group"].unique(), run.graph)
overall = {m: table.set_index("group").loc[ALL] for m, table in by_measure.items()}

with st.container(horizontal=True):
    st.metric("True instances", f"{int(overall['relik']['n_true']):,}", border=True)
    st.metric("False instances", f"{int(overall['relik']['n_false']):,}", border=True)
    for m, title in (("relik", "ReliK"), ("reciprocal_rank", "Reciprocal rank")):
        st.metric(
            f"ROC-AUC of {title} ↑",
            number(overall[m]["roc_auc"]),
            border=True,
            help="The chance that a true instance gets a higher value than a false one; 0.5 is "
            f"guessing. Cohen's d {number(overall[m]['cohens_d'])}.",
        )
for note in instances.notes:
    st.caption(note.capitalize())

left, right = st.columns([3, 2], gap="large")
with left:
    st.subheader("Every instance")
    st.caption("Click a point to see its triples.")
    points = show_chart(
        values_figure(scored.table, measure, chains, names=names),
        "values",
        f"{run.name}-{measure}-of-instances",
        on_select="rerun",
        selection_mode="points",
    )
with right:
    st.subheader("Separation per group")
    st.caption("ReliK beside the reciprocal rank ½ (1/tail rank + 1/relation rank).")
    show_chart(auc_figure(by_measure, names), "auc", f"{run.name}-roc-auc")

st.subheader("Means with 95 % intervals")
show_chart(means_figure(separated, measure, chains, names), "means", f"{run.name}-mean-{measure}")
table = separated.assign(group=[names.get(g, g) for g in separated["group"]])
show_table(table, "groups", f"{run.name}-separation")

st.subheader("Instances")
st.caption("Select a row, or click a point above, to see the triples of an instance.")
columns = ["instance", "group", "label", "question", "answer", "chains"]
listed = scored.table[[*columns, f"relik_{chains}", f"reciprocal_rank_{chains}"]]
listed = listed.assign(
    group=[names.get(g, g) for g in listed["group"]],
    label=["true" if label else "false" for label in listed["label"]],
)
row = selected_row(
    st.dataframe(
        listed,
        hide_index=True,
        column_config=number_columns(listed),
        on_select="rerun",
        selection_mode="single-row",
        key="instances",
    )
)
download(listed, f"{run.name}-instances")
point = selected_point(points)
chosen = int(listed.iloc[row]["instance"]) if row is not None else point and int(point[0])
if chosen is not None:
    about = scored.table.set_index("instance").loc[chosen]
    st.markdown(
        f"**{about['question']} → {about['answer']}** is {'true' if about['label'] else 'false'}"
    )
    triples = instance_triples(run.graph, scored.triples, chosen)
    show_table(triples, "chain", f"{run.name}-instance-{chosen}")
