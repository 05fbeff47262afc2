"""The way from any triple on a page to the page Inspect, and through the list that it stood in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import streamlit as st

from kgdash.graph import KnowledgeGraph
from kgdash.ui.runtime.navigation import MENU, shows
from kgdash.ui.widgets.selection import selected_row
from kgdash.ui.widgets.table import download, number_columns, written

_PAGE = "pages/inspect.py"
_LIST = "inspection_list"

#: pixels of a row, so that ten candidates stand on the first screen
ROW = 28

#: pixels of a table of tall rows: ten of them
_TALL = 700

#: columns that hold a triple's ids
IDS = ["head", "relation", "tail"]

#: parameters of the page's address: a name or a label each, or "?"
ADDRESS = tuple(IDS)


@dataclass(frozen=True)
class TripleList:
    """The triples among which one was opened: ids, int64, ``(n, 3)``, of a graph."""

    digest: str
    triples: np.ndarray
    title: str

    @classmethod
    def of(cls, digest: str, rows: np.ndarray, title: str) -> TripleList:
        """Make a list of a table's rows, each triple once, where it stands first.

        Tables of ranks have a row per side of a triple: to the same one there is no next step.
        """
        triples = pd.DataFrame(np.asarray(rows, dtype=np.int64).reshape(-1, 3))
        return cls(digest, triples.drop_duplicates().to_numpy(), title)

    def place(self, triple: Sequence[int | None]) -> int | None:
        """Return where a triple stands first, or None."""
        found = np.flatnonzero((self.triples == np.array(triple, dtype=object)).all(axis=1))
        return int(found[0]) if len(found) else None


def open_inspection(
    graph: KnowledgeGraph,
    triple: Sequence[int],
    siblings: np.ndarray | None = None,
    title: str = "",
) -> NoReturn:
    """Leave for a triple on the page Inspect; the choice of the run stays.

    :param graph: of that run
    :param triple: ids of head, relation and tail
    :param siblings: the list that it stands in, ids, ``(n, 3)``, to go through there, each once
    :param title: what the list is
    """
    if siblings is None:
        st.session_state.pop(_LIST, None)
    else:
        st.session_state[_LIST] = TripleList.of(graph.digest, siblings, title)
    if shows(MENU["Predictions"]["inspect"]):
        # To the page itself, Streamlit would take the run and all else out of the address.
        st.query_params.update(triple_address(graph, triple))
        st.rerun()
    st.switch_page(_PAGE, query_params=triple_address(graph, triple))


def triple_address(graph: KnowledgeGraph, triple: Sequence[int]) -> dict[str, str]:
    """Return the address's parameters of a triple: its names."""
    head, relation, tail = (int(part) for part in triple)
    names = (graph.entities[head], graph.relations[relation], graph.entities[tail])
    return dict(zip(ADDRESS, names, strict=True))


def opened_list(graph: KnowledgeGraph) -> TripleList | None:
    """Return the list that a triple of this graph was opened from, if there is one."""
    found: TripleList | None = st.session_state.get(_LIST)
    return found if found is not None and found.digest == graph.digest else None


def offer_inspection(
    graph: KnowledgeGraph,
    triple: Sequence[int],
    key: str,
    siblings: np.ndarray | None = None,
    title: str = "",
) -> None:
    """Show a button that opens a triple on the page Inspect.

    :param key: of the widget; the others as of `open_inspection`
    """
    if st.button("Inspect", key=key, icon=":material/frame_inspect:"):
        open_inspection(graph, triple, siblings, title)


def show_triples(
    graph: KnowledgeGraph,
    ids: np.ndarray,
    table: pd.DataFrame,
    key: str,
    name: str,
    whole: pd.DataFrame | None = None,
    **labels: Any,
) -> None:
    """Show a table of triples, a row of which opens its triple on the page Inspect.

    :param ids: head, relation and tail of each row, ``(n, 3)``
    :param key: of the widget
    :param name: of the files that offer the table, and of the list
    :param whole: what the files hold, where that is not what is shown
    :param labels: as for `number_columns`
    """
    pick_triple(graph, ids, table, key, name, **labels)
    download(table if whole is None else whole, name)


def pick_triple(
    graph: KnowledgeGraph,
    ids: np.ndarray,
    table: pd.DataFrame,
    key: str,
    title: str,
    row_height: int = ROW,
    **labels: Any,
) -> None:
    """Show a table as `show_triples` does, without files.

    :param title: of the list that its rows are
    :param row_height: pixels
    """
    event = st.dataframe(
        written(table),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(table, **labels),
        row_height=row_height,
        height="auto" if row_height == ROW else min(_TALL, 40 + row_height * len(table)),
        on_select="rerun",
        selection_mode="single-row",
        key=key,
    )
    row = selected_row(event)
    if row is not None and row < len(ids):
        open_inspection(graph, ids[row], ids, title)
