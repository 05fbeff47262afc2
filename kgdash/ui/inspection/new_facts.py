"""The table of new facts, of which a phone shows whole triples with their probabilities."""

from typing import Any

import pandas as pd
import streamlit as st

from kgdash.graph import IDS, triple_text
from kgdash.runs import Run
from kgdash.ui.widgets.inspect_link import ROW, pick_triple
from kgdash.ui.widgets.table import TALL_ROW, download

#: columns that come first -> pixels of names on a phone; on a desk they grow
_WIDTHS = {"fact": 215, "head": 115, "tail": 115, "probability": None, "score": None}


def show_new_facts(run: Run, found: pd.DataFrame, name: str) -> None:
    """Show new facts, the best first; a row opens its triple on the page Inspect.

    The relation stands in the facts where there are several; one is named above the table.

    :param found: of `kgdash.studies.discovery.discovery.discover`
    :param name: of the files, and of the list
    """
    named = run.graph.with_names(found)
    several = named["relation"].nunique() > 1
    shown, hidden = named, ["relation", "softmax"]
    if several:
        facts = triple_text(named["head"], named["relation"], named["tail"])
        shown, hidden = named.assign(fact=facts), [*IDS, "softmax"]
    first = [column for column in _WIDTHS if column in shown and column not in hidden]
    columns: dict[str, Any] = {
        column: st.column_config.Column(column, width=_WIDTHS[column])
        for column in first
        if column in ("fact", *IDS)
    }
    pick_triple(
        run.graph,
        found[IDS].to_numpy(),
        shown[[*first, *shown.columns.difference(first, sort=False)]],
        "new_facts",
        name,
        TALL_ROW if several else ROW,
        **columns,
        **dict.fromkeys(hidden),
    )
    download(named, name)
