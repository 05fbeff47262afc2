"""What the checks of scores found, as cards and as a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from kgdash.health.checks import Finding
from kgdash.ui.runtime.markdown import plain

_ICONS = {
    "fault": ":material/error:",
    "notice": ":material/info:",
    "fine": ":material/check_circle:",
    "unknown": ":material/help:",
}
_COLOURS = {"fault": "red", "notice": "orange", "fine": "green", "unknown": "gray"}


def show_findings(findings: Sequence[Finding]) -> None:
    """Show the verdict, the findings that are not fine, and beneath a fold all checks.

    :param findings: of `kgdash.health.checks.find`, the worst first
    """
    counts = Counter(finding.level for finding in findings)
    with st.container(horizontal=True):
        verdict = "Not healthy" if counts["fault"] else "Worth a look"
        if not counts["fault"] and not counts["notice"]:
            verdict = "Healthy"
        st.metric("Scores", verdict, border=True)
        st.metric("Faults", counts["fault"], border=True)
        st.metric("Notices", counts["notice"], border=True)
        st.metric("Checks passed", f"{counts['fine']} of {len(findings)}", border=True)
    for finding in findings:
        if finding.level == "fault":
            st.error(_text(finding), icon=_ICONS["fault"])
        elif finding.level == "notice":
            st.warning(_text(finding), icon=_ICONS["notice"])
    with st.expander("All checks and their thresholds", icon=":material/checklist:"):
        for finding in findings:
            colour, icon = _COLOURS[finding.level], _ICONS[finding.level]
            st.markdown(
                f":{colour}[{icon} {finding.level}] {_text(finding)}  \n"
                f":small[:gray[{plain(finding.rule)}]]"
            )


def _text(finding: Finding) -> str:
    return f"**{finding.check[0].upper()}{finding.check[1:]}.** {plain(finding.text)}"
