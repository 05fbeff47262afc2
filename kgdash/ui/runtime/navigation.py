"""The pages of the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from kgdash.ui.runtime.refined import stop_refining

#: a file, since the browser would fetch an icon that is named by a word from Google's servers
_ICON = Path(__file__).with_name("icon.svg")

_PAGE = "page_of_latest_run"


def navigation() -> Any:
    """Set up the browser's tab, declare the pages to Streamlit and return the one to run."""
    # Before the pages are declared: else the tab takes the page's icon, which is such a word.
    st.set_page_config(page_title="kgdash", page_icon=str(_ICON), layout="wide")
    page = st.navigation(
        {
            "Run": [
                st.Page("pages/overview.py", title="Overview", icon=":material/info:", default=True)
            ],
            "Evaluation": [
                st.Page("pages/metrics.py", title="Metrics", icon=":material/leaderboard:"),
                st.Page("pages/breakdowns.py", title="Breakdowns", icon=":material/bar_chart:"),
                st.Page(
                    "pages/score_health.py", title="Score health", icon=":material/monitor_heart:"
                ),
                st.Page(
                    "pages/classification.py",
                    title="Triple classification",
                    icon=":material/fact_check:",
                ),
                st.Page("pages/metric_guide.py", title="Metric guide", icon=":material/school:"),
            ],
            "Reliability": [
                st.Page(
                    "pages/inspect.py",
                    title="Inspect a prediction",
                    icon=":material/frame_inspect:",
                ),
                st.Page("pages/local.py", title="Local reliability", icon=":material/hub:"),
                st.Page("pages/reliability.py", title="Reliability map", icon=":material/map:"),
                st.Page(
                    "pages/queries_rules.py", title="Queries and rules", icon=":material/rule:"
                ),
                st.Page("pages/label.py", title="Label predictions", icon=":material/how_to_reg:"),
                st.Page(
                    "pages/explain.py", title="Confounders of ReliK", icon=":material/troubleshoot:"
                ),
            ],
            "Does ReliK predict performance?": [
                st.Page(
                    "pages/study.py", title="Correlation study", icon=":material/scatter_plot:"
                ),
                st.Page(
                    "pages/prognosis.py",
                    title="Expected performance",
                    icon=":material/online_prediction:",
                ),
            ],
            "Compare": [
                st.Page("pages/compare.py", title="Compare runs", icon=":material/compare:"),
                st.Page(
                    "pages/which_model.py", title="Which model where", icon=":material/alt_route:"
                ),
                st.Page("pages/search.py", title="Model selection", icon=":material/tune:"),
                st.Page("pages/obl2021.py", title="OBL2021", icon=":material/trophy:"),
            ],
            "This machine": [st.Page("pages/cache.py", title="Cache", icon=":material/database:")],
        },
        expanded=True,
    )
    if st.session_state.get(_PAGE) != page.title:
        stop_refining()
    st.session_state[_PAGE] = page.title
    return page


def ensure_navigation() -> None:
    """Start over under app.py if this page's file was run alone.

    Streamlit does so at the first visit to a fresh server, if that opens a page by its address: it
    does not know app.py's pages yet.
    """
    if _PAGE not in st.session_state:
        navigation()
        st.rerun()
