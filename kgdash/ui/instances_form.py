"""The widget that chooses where labelled instances come from: queries, rules, a user's table."""

from __future__ import annotations

import streamlit as st

from kgdash.runs import Run
from kgdash.ui.instances_choice import InstancesChoice
from kgdash.ui.queries_form import choose_queries
from kgdash.ui.rules_form import choose_rules, choose_table

_SOURCES = ("Queries", "Rules", "My own table")


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
        return choose_queries(run)
    return choose_rules(run) if source == _SOURCES[1] else choose_table(run)
