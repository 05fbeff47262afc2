"""Tables on pages: numbers that can be read, and a download of the whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kgdash.files.bounds import held_bytes
from kgdash.files.table import csv_bytes, parquet_bytes, row_parts
from kgdash.graph.relation_names import end_first
from kgdash.ranking.glossary import explained
from kgdash.ranking.metric import Metric
from kgdash.statistics.estimate import number, p_value, percent, whole_or_half
from kgdash.ui.widgets.downloads import made_later, most_bytes
from kgdash.ui.widgets.file_name import file_name
from kgdash.ui.widgets.selection import selected_row

#: column of floats -> what writes its values
_Forms = dict[Any, Callable[[float], str]]

#: pixels of a row whose texts take three lines: below 65, Streamlit cuts them after one
TALL_ROW = 66

#: cells beyond which floats keep the browser's format: writing each takes too long
_MOST_CELLS = 10_000

#: bytes of texts, and numbers, of a table that a page sends to each tab; first rows that always are
_MOST_SENT, _FEW_ROWS = 2**22, 1_000

#: words in columns' names that headings write otherwise
_SPELLINGS = {"relik": "ReliK", "mrr": "MRR", "nan": "NaN", "f1": "F1", "roc": "ROC", "auc": "AUC"}

#: what stands for a value that is not there
_NONE = "–"

#: columns of p-values
_P_VALUES = frozenset({"p", "p_permutation", "p_holm", "p_max"})

#: columns of shares, and the ends of their intervals
_SHARES = frozenset(
    {"coverage", "covered", "level", "covgap", "worst", "share_right", "mean_confidence"}
    | {"ambiguity", "pairwise", "vote_pairwise", "overlap", "discrepancy"}
)
_ENDS = frozenset({"low", "high"})

#: columns that may hold relations
_RELATIONS = frozenset({"relation", "group", "label"})


def number_columns(table: pd.DataFrame, **labels: Any) -> dict[str, Any]:
    """Describe columns for `st.dataframe`: headings, explained, and whole numbers as such.

    :param labels: column -> heading where it is not the column's name, or all of `st.column_config`
    """
    config: dict[str, Any] = {}
    for column in table.columns:
        heading = labels.get(column, _spelt(str(column)))
        if not isinstance(heading, str):
            config[column] = heading
            continue
        about = explained(heading)
        if pd.api.types.is_integer_dtype(table[column]):
            # A seed is no count: it is written as it is typed.
            form = "%d" if "seed" in str(column) else "localized"
            config[column] = st.column_config.NumberColumn(heading, format=form, help=about)
        elif pd.api.types.is_float_dtype(table[column]):
            # Three digits here too, where there are too many to be written by `written`.
            digits = "%.3g" if table.size > _MOST_CELLS else None
            config[column] = st.column_config.NumberColumn(heading, format=digits, help=about)
        else:
            config[column] = st.column_config.Column(heading, help=about)
    return config


def _spelt(column: str) -> str:
    """Write a column's name as a heading: "relik_head_rank" is "ReliK head rank"."""
    return " ".join(_SPELLINGS.get(word, word) for word in column.split("_"))


def written(table: pd.DataFrame) -> Any:
    """Return a table for `st.dataframe` whose floats are written as on cards: to three digits.

    Shares are percentages. They still sort by value; those of large tables stay as they are. Of
    relations that are paths the end comes first. Where names are long and rows many, only the first
    rows are sent, and the page says so.
    """
    if (fit := _rows_that_fit(table)) < len(table):
        st.caption(f"The first {fit:,} of {len(table):,} rows; files hold all.")
        table = table.head(fit)
    for column in _RELATIONS.intersection(table.columns):
        texts = {text: end_first(text) for text in table[column].unique() if isinstance(text, str)}
        if any(text != old for old, text in texts.items()):
            table = table.assign(**{column: table[column].map(texts)})
    floats = table.select_dtypes("floating").columns
    if table.size > _MOST_CELLS or not len(floats):
        return table
    if not table.index.is_unique:
        table = table.reset_index(drop=True)
    shares = _SHARES | _ENDS if _SHARES.intersection(table) else _SHARES
    forms: _Forms = {c: _tenths if c in shares else _form(str(c), table[c]) for c in floats}
    if table.columns.is_unique and all(map(_is_plain, table.dtypes)):
        return _quickly_written(table, forms)
    return table.style.format(forms, na_rep=_NONE)


def _rows_that_fit(table: pd.DataFrame) -> int:
    """Count the first rows that are sent together, at least a few."""
    if len(table) <= _FEW_ROWS:
        return len(table)
    sent = rows = 0
    for part in row_parts(table, _FEW_ROWS):
        texts = part.select_dtypes(exclude=["number", "bool"])
        held = np.full(len(part), 8 * (table.shape[1] - texts.shape[1]))
        for _, column in texts.items():
            held += np.fromiter(map(held_bytes, map(str, column)), np.int64, len(part))
        fit = int(np.searchsorted(sent + np.cumsum(held), _MOST_SENT, side="right"))
        sent, rows = sent + int(held.sum()), rows + fit
        if fit < len(part):
            break
    return max(_FEW_ROWS, rows)


class _Written(pd.DataFrame):
    """A table that knows the texts of its cells: what Streamlit asks ``astype(str)`` for."""

    texts: pd.DataFrame

    def astype(self, dtype: Any, *more: Any, **options: Any) -> Any:
        """Return the texts, or as pandas does."""
        return self.texts if dtype is str else super().astype(dtype, *more, **options)


def _quickly_written(table: pd.DataFrame, forms: _Forms) -> Styler:
    """Write a table as ``table.style.format(forms, na_rep=…)`` does, for Streamlit alone.

    Streamlit takes texts of cells from what pandas' Styler translates to HTML, a tenth of a second
    per 8,000 cells, and ``str`` of what that lacks; here it lacks everything.
    """
    texts = {}
    for column, values in table.items():
        said = [*map(forms.get(column, str), values.tolist())]
        for row in np.flatnonzero(values.isna()):
            said[row] = _NONE
        texts[column] = said
    styler, shown = table.style, _Written(table)
    # As objects: of texts that are read once, pandas' own kind would take longer to make.
    object.__setattr__(shown, "texts", pd.DataFrame(texts, table.index, dtype=object))
    vars(styler).update(data=shown, _compute=lambda: styler, _translate=lambda *_: {})
    return styler


def _is_plain(dtype: Any) -> bool:
    """Tell whether the texts of a column's values are those of ``str``, or it is of floats."""
    kinds = pd.api.types
    is_float = isinstance(dtype, np.dtype) and dtype.kind == "f"
    is_text = isinstance(dtype, pd.StringDtype)
    return is_float or is_text or kinds.is_integer_dtype(dtype) or kinds.is_bool_dtype(dtype)


def _form(column: str, values: pd.Series) -> Callable[[float], str]:
    """Return how a column's floats are written."""
    if column in _P_VALUES:
        return p_value
    if column.endswith(("rank", "median_size")) and np.all(values.dropna() % 0.5 == 0):
        return whole_or_half
    return number


def _tenths(share: float) -> str:
    return percent(share, 1)


def value_bar(info: Metric, heading: str) -> dict[str, Any]:
    """Describe the column "value" as bars from 0 to 1, of a metric that lies there; else nothing.

    :param heading: of the column
    """
    if (info.values.left, info.values.right) != (0, 1):
        return {}
    about = explained(info.label)
    column = st.column_config.ProgressColumn(
        heading, min_value=0, max_value=1, format="%.3f", help=about
    )
    return {"value": column}


def show_table(
    table: pd.DataFrame, key: str, name: str, whole: pd.DataFrame | None = None, **labels: Any
) -> None:
    """Show a table and offer it as a file.

    :param key: of the widget
    :param name: of the files, without an extension
    :param whole: what the files hold, where that is not what is shown
    :param labels: as for `number_columns`
    """
    st.dataframe(
        written(table),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(table, **labels),
        key=key,
    )
    download(table if whole is None else whole, name)


def choose_row(
    table: pd.DataFrame, key: str, name: str, whole: pd.DataFrame | None = None, **labels: Any
) -> int | None:
    """Show a table as `show_table` does, and return the number of the row that is selected."""
    event = st.dataframe(
        written(table),
        hide_index=True,
        placeholder="–",
        column_config=number_columns(table, **labels),
        on_select="rerun",
        selection_mode="single-row",
        key=key,
    )
    download(table if whole is None else whole, name)
    return selected_row(event)


def download(table: pd.DataFrame, name: str) -> None:
    """Offer a table as CSV, safe to open in a spreadsheet, and as Parquet, as it is.

    Both hold all rows, in full precision.

    :param name: of the files, without an extension; names the buttons too
    """
    # Made at the click: a file made now is gone as soon as refined values replace it.
    files: dict[str, tuple[Callable[[], bytes], str]] = {
        "CSV": (partial(csv_bytes, table, most_bytes()), "text/csv"),
        "Parquet": (partial(parquet_bytes, table, most_bytes()), "application/vnd.apache.parquet"),
    }
    with st.container(horizontal=True):
        for kind, (content, mime) in files.items():
            st.download_button(
                f"Download {kind}",
                made_later(content),
                file_name=file_name(name, f".{kind.lower()}"),
                mime=mime,
                icon=":material/download:",
                key=f"download {name} {kind.lower()}",
                on_click="ignore",
                type="tertiary",
            )
