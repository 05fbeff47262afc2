"""The widgets that choose rules and their labelled instances: mined, or a user's table."""

from __future__ import annotations

import hashlib

import streamlit as st

from kgdash.runs import Run
from kgdash.studies.mined_instances import mined_instances
from kgdash.studies.rule_table import read_rule_table
from kgdash.ui.instances_choice import InstancesChoice

_FORMAT = """One row per triple, tab- or comma-separated, with these columns:

| column | what |
| --- | --- |
| rule | any name; instances are grouped by it |
| instance | which instance of the rule the triple belongs to |
| head, relation, tail | names or labels as in the graph |
| label | true or false, the same on all triples of an instance |
| role | optional: body or head; without it an instance's last triple is its head |
"""


def choose_mined(run: Run) -> InstancesChoice:
    """Show the widgets for mined rules and return what they say."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = st.number_input("Rules", 1, 200, 12, key="max_rules", bind="query-params", width=120)
        min_pca = st.number_input(
            "Least PCA confidence",
            0.0,
            1.0,
            0.3,
            0.05,
            key="min_pca",
            bind="query-params",
            width=170,
            help="Closed rules with one or two body atoms, mined on the training triples and "
            "counted as AMIE does; those with most support come first.",
        )
        per_rule = st.number_input(
            "Instances per rule and label",
            1,
            1000,
            30,
            key="per_rule",
            bind="query-params",
            width=210,
        )
        seed = st.number_input(
            "Random seed", 0, 10**9, 0, key="rule_seed", bind="query-params", width=130
        )
    st.caption(
        "A prediction of a rule is true if it is in valid or test, and counts as false if it is no "
        "known triple (closed world: facts that nobody wrote down count as false too)."
    )

    return InstancesChoice(
        ("mined", int(most), float(min_pca), int(per_rule), int(seed)),
        lambda report: mined_instances(
            run.graph, int(most), float(min_pca), int(per_rule), int(seed), report
        ),
    )


def choose_table(run: Run) -> InstancesChoice:
    """Show the upload of a table; ends the page's run while it is missing."""
    with st.expander("Format of the table"):
        st.markdown(_FORMAT)
    upload = st.file_uploader(
        "Table of rule instances",
        type=["tsv", "csv", "txt"],
        key="table",
        help="At most 64 MB. It is read as text and not kept.",
    )
    if upload is None:
        st.info("Upload a table to see its instances.", icon=":material/upload_file:")
        st.stop()
    content = upload.getvalue()
    return InstancesChoice(
        ("table", hashlib.sha256(content).hexdigest()),
        lambda _: read_rule_table(content, run.graph, upload.name),
    )
