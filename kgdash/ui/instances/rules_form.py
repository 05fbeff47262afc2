"""The widgets that choose rules and their labelled instances: mined, of a file, or a table."""

from __future__ import annotations

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.ranking.glossary import explained
from kgdash.runs import Run
from kgdash.runs.call import Call, Reading
from kgdash.studies.classification.given_negatives import find_negatives, verified_stamp
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.labelling.journal import journal_state, read_journal
from kgdash.studies.labelling.results import check_labelled, instances_of_labels
from kgdash.studies.rules.selection import ORDERS, RuleSelection
from kgdash.studies.rules.sources import find_instances
from kgdash.ui.instances.given_rules import read_rule_file, read_verified
from kgdash.ui.instances.separation_form import InstancesChoice
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import file_key
from kgdash.ui.runtime.sidebar import more_settings, settings
from kgdash.ui.widgets.choices import choice, choose_number, choose_one

_FORMAT = """One row per triple, tab- or comma-separated, with these columns:

| column | what |
| --- | --- |
| rule | any name; instances are grouped by it |
| instance | which instance of the rule the triple belongs to |
| head, relation, tail | names or labels as in the graph |
| label | true or false, the same on all triples of an instance |
| role | optional: body or head; without it an instance's last triple is its head |
| grounding | optional: which grounding of one conclusion, where an instance has several |
"""

#: what the page opens with
_FIRST = RuleSelection()

_SOURCES = ("Rules", "My own table", "My labels")
_ORIGINS = ("mined", "from a file")
_FALSE = ("verified", "closed world")


def choose_rule_instances(run: Run) -> InstancesChoice:
    """Show the widgets and return what they say; ends the page's run while a file is missing."""
    with settings():
        source = choice("Predictions of", _SOURCES, "source")
    if source == _SOURCES[0]:
        return _choose_rules(run)
    return _choose_table(run) if source == _SOURCES[1] else _labelled(run)


def _labelled(run: Run) -> InstancesChoice:
    """Return what was judged on the page Label predictions; ends the page's run if nothing was."""
    state = journal_state(run.graph)  # before it is read: what comes meanwhile is another
    try:
        labelling = read_journal(run.graph)
        check_labelled(labelling, run.graph)
    except KgdashError as error:
        st.info(plain(str(error)), icon=":material/info:")
        st.stop()
    return InstancesChoice(("labels", *state), Call(instances_of_labels, labelling, run.graph))


def _choose_rules(run: Run) -> InstancesChoice:
    with settings():
        mined = _choose_origin()
        most = choose_number("Rules", (1, 200), _FIRST.max_rules, "max_rules")
        order = _choose_order()
        min_pca = st.number_input(
            "Minimum PCA confidence",
            0.0,
            1.0,
            _FIRST.min_pca,
            0.05,
            key="min_pca",
            bind="query-params",
            help=explained(
                "PCA confidence",
                "Mined rules find at least 1% of a relation's facts, too. Of AnyBURL: the file's.",
            ),
        )
    with more_settings():
        least = _FIRST.min_support
        min_support = choose_number("Minimum support", (1, 10**6), least, "min_support")
        per_rule = choose_number(
            "Instances per rule and label", (1, 1000), _FIRST.per_rule, "per_rule"
        )
        verified = _choose_false(run)
        seed = choose_number("Random seed", (0, 10**9), _FIRST.seed, "rule_seed")
    selection = RuleSelection(most, float(min_pca), min_support, per_rule, order, seed)
    origin: tuple[str, ...] = ("mined",)
    rules = None
    if not mined:
        content, name = _upload_rules()
        rules = read_rule_file(run, selection, content, name)
        origin = ("rule file", *file_key(name, content))
    false = verified_stamp(run) if verified else ()  # before they are read: they may be replaced
    negatives = read_verified(run) if verified else None
    make = Call(find_instances, run.graph, selection, rules, negatives)
    return InstancesChoice((*origin, selection, verified, *false), make)


def _choose_origin() -> bool:
    """Ask where rules come from; True: they are mined."""
    chosen = choose_one(
        "Rules are",
        _ORIGINS,
        "rules_from",
        help="Mined on the training triples: closed rules with one or two body atoms, counted as "
        "AMIE does. From a file: of AMIE or AnyBURL, or a table with a column rule; up to three "
        "body atoms, with constants.",
    )
    return chosen == _ORIGINS[0]


def _choose_order() -> str:
    return str(
        choice(
            "First come rules by",
            ORDERS,
            "rule_order",
            _FIRST.order,
            help="Rules are taken in this order if their predictions have both labels. By both "
            "labels: those with most instances of their rarer label.",
        )
    )


def _choose_false(run: Run) -> bool:
    """Ask what counts as false, where people verified negatives; True: only those."""
    if find_negatives(run) is None:
        return False
    chosen = choose_one(
        "False predictions",
        _FALSE,
        "false",
        help="Verified: triples that people found to be false, which this dataset ships. Closed "
        "world: whatever is no known triple.",
    )
    return chosen == _FALSE[0]


def _upload_rules() -> tuple[bytes, str]:
    upload = settings().file_uploader(
        "Rules of AMIE or AnyBURL",
        type=["txt", "tsv", "csv", "gz"],
        key="rule_file",
        help="At most 64 MB: what AMIE or AnyBURL wrote, or a table with a column rule. It is read "
        "as text and not kept.",
    )
    if upload is None:
        st.info(
            "Upload what AMIE or AnyBURL wrote for this graph to see what its rules predict.",
            icon=":material/upload_file:",
        )
        st.stop()
    return upload.getvalue(), upload.name


def _choose_table(run: Run) -> InstancesChoice:
    with settings(), st.popover("Format of the table", width="stretch"):
        st.markdown(_FORMAT)
    upload = settings().file_uploader(
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
        ("table", *file_key(upload.name, content)),
        Reading(read_rule_table, content, run.graph, upload.name),
    )
