"""The report of a run, or of several, from a page."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from kgdash.graph import SPLITS
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.html import report_page
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.ui.runtime.computed import computed
from kgdash.ui.widgets.file_name import file_name


def offer_report(run: Run) -> None:
    """Show a button that makes the report of a run on its last split, then one that saves it."""
    split = [name for name in SPLITS if len(run.graph.splits[name])][-1]
    offer_page(
        Call(report_page, run, RankSetting(split)),
        (run.identity, "report", split),
        f"{run.name}-{split}-report",
        "One HTML file that works offline: where the run can be trusted, true against false, "
        "calibration, metrics, groups, training; with the commands behind it.",
    )


def offer_page(make: Call, key: tuple[Hashable, ...], name: str, about: str) -> None:
    """Show a button that makes an HTML file, then one that saves it.

    :param make: returns its bytes
    :param key: all that the file depends on
    :param name: of the file, without an extension
    :param about: what is in it
    """
    slot, asked = st.empty(), f"made {key}"
    if not st.session_state.get(asked):
        slot.button(
            "Make a report",
            icon=":material/description:",
            key="make_report",
            help=about,
            on_click=st.session_state.__setitem__,
            args=(asked, True),
        )
        return
    with slot.container():
        html = computed("Writing the report", key, make)
        st.download_button(
            f"Download the report ({len(html) / 1e6:.1f} MB)",
            html,
            file_name=file_name(name, ".html"),
            mime="text/html",
            icon=":material/download:",
            key="download_report",
            on_click="ignore",
        )
