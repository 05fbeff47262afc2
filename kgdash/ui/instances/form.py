"""The widget that chooses where labelled instances come from: queries, rules, a user's labels."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.studies.labelling.results import labelled_instances
from kgdash.ui.instances.queries_form import choose_queries
from kgdash.ui.instances.rules_form import choose_rules, choose_table
from kgdash.ui.instances.separation_form import InstancesChoice
from kgdash.ui.widgets.choices import choose_one

_SOURCES = ("Queries", "Rules", "My own table", "My labels")


def choose_instances(run: Run) -> InstancesChoice:
    """Show the widgets and return what they say; ends the page's run while a table is missing."""
    source = choose_one("Instances", _SOURCES, "source")
    if source == _SOURCES[0]:
        return choose_queries(run)
    if source == _SOURCES[1]:
        return choose_rules(run)
    return choose_table(run) if source == _SOURCES[2] else _labelled(run)


def _labelled(run: Run) -> InstancesChoice:
    """Return what was judged on the page Label predictions; ends the page's run if nothing was."""
    try:
        instances = labelled_instances(run)
    except KgdashError as error:
        st.info(str(error), icon=":material/info:")
        st.stop()
    content = int(pd.util.hash_pandas_object(instances.triples, index=False).sum())
    return InstancesChoice(("labels", len(instances), content), lambda _: instances)
