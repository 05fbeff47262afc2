"""The widgets that choose labelled instances: sampled queries, mined rules, or a user's table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import streamlit as st

from kgdash.progress import Progress
from kgdash.runs import Run
from kgdash.studies.instances import Instances
from kgdash.studies.mined_instances import mined_instances
from kgdash.studies.queries import HARD, QUERY_TYPES, sample_queries
from kgdash.studies.rule_table import read_rule_table

_SOURCES = ("Queries", "Mined rules", "My own table")

_FORMAT = """One row per triple, tab- or comma-separated, with these columns:

| column | what |
| --- | --- |
| rule | any name; instances are grouped by it |
| instance | which instance of the rule the triple belongs to |
| head, relation, tail | names or labels as in the graph |
| label | true or false, the same on all triples of an instance |
| role | optional: body or head; without it an instance's last triple is its head |
"""


@dataclass(frozen=True)
class InstancesChoice:
    """What the user chose: a key of all that the instances depend on, and how to make them."""

    key: tuple[Hashable, ...]
    make: Callable[[Progress], Instances]


def choose_instances(run: Run) -> InstancesChoice:
    """Show the widgets and return what they say; ends the page's run while a table is missing."""
    source = st.segmented_control(
        "Instances",
        _SOURCES,
        default=_SOURCES[0],
        required=True,
        key="source",
        bind="query-params",
    )
    if source == _SOURCES[0]:
        return _queries(run)
    return _mined(run) if source == _SOURCES[1] else _table(run)


def _queries(run: Run) -> InstancesChoice:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        types = st.pills(
            "Query types",
            list(QUERY_TYPES),
            selection_mode="multi",
            default=list(QUERY_TYPES),
            key="types",
            bind="query-params",
            help="1p, 2p, 3p: chains of one to three relations from an anchor. 2i, 3i: two or "
            "three branches that meet in the answer.",
        )
        per_type = st.number_input(
            "Queries per type", 1, 1000, 50, key="per_type", bind="query-params", width=150
        )
        hard = st.selectbox(
            "True answers need a triple",
            list(HARD),
            key="hard",
            bind="query-params",
            width=220,
            help="A true answer holds in the whole graph but can not be found on this part of it.",
        )
        seed = st.number_input(
            "Random seed", 0, 10**9, 0, key="query_seed", bind="query-params", width=130
        )
    if not types:
        st.info("Choose at least one query type.", icon=":material/info:")
        st.stop()
    chosen = tuple(t for t in QUERY_TYPES if t in types)
    return InstancesChoice(
        ("queries", chosen, int(per_type), hard, int(seed)),
        lambda report: sample_queries(
            run.graph, chosen, int(per_type), hard, int(seed), progress=report
        ),
    )


def _mined(run: Run) -> InstancesChoice:
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


def _table(run: Run) -> InstancesChoice:
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
