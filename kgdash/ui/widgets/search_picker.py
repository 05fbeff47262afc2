"""Which search to show: the bundled example or a file, read again while it grows."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.files.regular import file_stamp
from kgdash.files.roots import opened
from kgdash.hpo.study_file import StudyFile, read_study
from kgdash.runs.bundled import DEMO_STUDY
from kgdash.runs.call import Reading
from kgdash.ui.runtime.computed import computed, refuse
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import choice

_EXAMPLE, _FILE = "Example: TransE on UMLS", "A file on this machine …"

#: seconds between two looks at the file
_EVERY = 2


def choose_study() -> tuple[StudyFile, tuple[Hashable, ...]]:
    """Show the choice and read the study; ends the page's run while there is none to read.

    :return: the study, and a key of what its file holds now for `computed`
    """
    with settings():
        chosen = choice("Search", [_EXAMPLE, _FILE], "study")
        named = ""
        if chosen == _FILE:
            named = st.text_input(
                "Study file",
                key="study_file",
                bind="query-params",
                placeholder="path/to/OUT.study.db",
                help="As `kgdash train OUT --search` writes it. It is only read, as "
                "tables: nothing in it runs. While a search goes on the page follows it.",
            ).strip()
    if chosen == _EXAMPLE:
        return _study(DEMO_STUDY, file_stamp(DEMO_STUDY))
    if not named:
        st.info("Name the file of a search.", icon=":material/folder_open:")
        st.stop()
    try:
        path = opened(named)
    except KgdashError as error:
        refuse(error)
    stamp = file_stamp(path)
    _follow(path, stamp)
    return _study(path, stamp)


def _study(path: Path, stamp: tuple[int, ...]) -> tuple[StudyFile, tuple[Hashable, ...]]:
    key = ("study", str(path), stamp)
    return computed("Reading the search", key, Reading(read_study, path)), key


@st.fragment(run_every=_EVERY)
def _follow(path: Path, stamp: tuple[int, ...]) -> None:
    """Run the page anew when the file changed."""
    if file_stamp(path) != stamp:
        st.rerun()
