"""The main table of metrics as LaTeX, from a page."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from kgdash.ranking.latex_table import latex_caption, latex_table
from kgdash.ranking.main_table import main_table
from kgdash.ranking.metrics import MetricsTable
from kgdash.ui.widgets.drawn import drawn
from kgdash.ui.widgets.file_name import file_name


def offer_latex(runs: Mapping[str, MetricsTable], evaluated: str, name: str) -> None:
    """Offer the main metrics of some runs as a LaTeX table, with a look at it.

    :param runs: name of the run -> `kgdash.ranking.metrics.metrics`, 1, 3 and 10 among its k
    :param evaluated: of `kgdash.ranking.main_table.evaluated_text`
    :param name: of the file, without an extension
    """
    with st.popover("LaTeX", icon=":material/functions:", type="tertiary", key=f"latex {name}"):
        text = drawn(_latex, dict(runs), evaluated)
        st.download_button(
            "Download .tex",
            text,
            file_name=file_name(name, ".tex"),
            mime="application/x-tex",
            icon=":material/download:",
            key=f"download {name} tex",
            on_click="ignore",
        )
        st.code(text, language="latex", height=320)


def _latex(runs: dict[str, MetricsTable], evaluated: str) -> str:
    table = main_table(runs)
    return latex_table(table, latex_caption(table, evaluated))
