"""The pages of the app: a menu on top, and addresses of former pages that lead to today's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kgdash.ui.runtime.refined import stop_refining
from kgdash.ui.runtime.visitors import admit

#: a file, since the browser would fetch an icon that is named by a word from Google's servers
_ICON = Path(__file__).with_name("icon.svg")

_PAGE = "page_of_latest_run"

#: menu -> file in pages/, which is its address, and title
MENU: dict[str, dict[str, str]] = {
    "": {"overview": "Overview"},
    "Metrics": {
        "metrics": "All metrics",
        "breakdowns": "Breakdowns",
        "score_health": "Score health",
        "probabilities": "Probabilities",
        "answer_sets": "Answer sets",
        "classification": "Triple classification",
        "metric_guide": "Metric guide",
    },
    "Reliability": {"local": "Local reliability", "reliability": "Reliability map"},
    "Predictions": {
        "inspect": "Inspect",
        "queries": "Query answers",
        "rules": "Rule predictions",
        "discover": "New facts",
        "label": "Label predictions",
    },
    "Compare": {
        "compare": "Compare runs",
        "which_model": "Which model where",
        "agreement": "Agreement",
        "protocols": "Sampled protocols",
        "model_selection": "Model selection",
        "obl2021": "OBL2021",
    },
    "Studies": {
        "study": "Correlation study",
        "expected_performance": "Expected performance",
        "confounders": "Confounders of ReliK",
    },
}

#: pages that no menu has
_HIDDEN = {"runs": "Runs", "cache": "Cache"}

#: address of a former page -> that of today's
_MOVED = {
    "explain": "confounders",
    "prognosis": "expected_performance",
    "search": "model_selection",
    "queries_rules": "queries",
}

#: room above a page, the size of headings, and contrast where Streamlit has too little
_STYLE = Path(__file__).with_name("style.css")


def to_start(request: Request) -> Response:
    """Lead from the name of the first page to its address, which Streamlit has without a name."""
    query = request.url.query
    return RedirectResponse("./" + (f"?{query}" if query else ""))


def navigation() -> Any:
    """Set up the browser's tab, declare the pages to Streamlit and return the one to run."""
    # Before the pages are declared: else the tab takes the page's icon, which is such a word.
    st.set_page_config(page_title="kgdash", page_icon=str(_ICON), layout="wide")
    st.html(_STYLE)
    menu = {
        name: [_page(file, title, "visible") for file, title in pages.items()]
        for name, pages in MENU.items()
    }
    menu[""] += [_page(file, title, "hidden") for file, title in _HIDDEN.items()]
    menu[""] += [
        st.Page(partial(_move, new), title=old, url_path=old, visibility="hidden")
        for old, new in _MOVED.items()
    ]
    page = st.navigation(menu, position="top")
    if st.session_state.get(_PAGE) != page.title:
        stop_refining()
    st.session_state[_PAGE] = page.title
    return page


def compares_runs() -> bool:
    """Tell whether this page is about several runs."""
    return st.session_state.get(_PAGE) in MENU["Compare"].values()


def shows(title: str) -> bool:
    """Tell whether the page of a title is the one that runs."""
    return bool(st.session_state.get(_PAGE) == title)


def needs_run(page: Any) -> bool:
    """Tell whether a page is about the chosen run."""
    return page.title not in _HIDDEN.values()


def ensure_navigation() -> None:
    """Start over under dashboard.py if this page's file was run alone.

    Streamlit does so at the first visit to a fresh server, if that opens a page by its address: it
    does not know dashboard.py's pages yet. So it is asked here, too, who comes.
    """
    admit()
    if _PAGE not in st.session_state:
        navigation()
        st.rerun()


def _page(file: str, title: str, visibility: Any) -> Any:
    default = file == "overview"
    return st.Page(f"pages/{file}.py", title=title, default=default, visibility=visibility)


def _move(page: str) -> NoReturn:
    """Lead a former address to today's page, with its choices."""
    choices = st.query_params.to_dict()
    if page == "queries" and choices.pop("source", "Queries") != "Queries":
        page = "rules"
    st.switch_page(f"pages/{page}.py", query_params=choices)
