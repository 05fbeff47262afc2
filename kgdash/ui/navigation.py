"""The pages of the app."""

from __future__ import annotations

from typing import Any

import streamlit as st


def navigation() -> Any:
    """Declare the pages to Streamlit and return the one to run."""
    return st.navigation(
        [
            st.Page("pages/overview.py", title="Overview", icon=":material/info:", default=True),
            st.Page("pages/metrics.py", title="Metrics", icon=":material/leaderboard:"),
            st.Page("pages/local.py", title="Local reliability", icon=":material/hub:"),
            st.Page("pages/queries_rules.py", title="Queries and rules", icon=":material/rule:"),
        ]
    )
