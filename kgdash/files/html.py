"""Texts in HTML, and HTML that objects show themselves by in notebooks.

All text is escaped, and colours are the reader's own, light or dark.
"""

import html
from collections.abc import Iterable, Mapping

import pandas as pd

from kgdash.files.visible import visible

_NAME = "text-align: left; vertical-align: top; font-weight: normal; opacity: 0.75"


def facts_html(title: str, facts: Mapping[str, object], sentences: Iterable[str] = ()) -> str:
    """Write facts by name under a title, then sentences."""
    rows = "".join(
        f'<tr><th style="{_NAME}">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<div><b>{escape(title)}</b><table><tbody>{rows}</tbody></table>{said}</div>"


def table_html(title: str, table: pd.DataFrame) -> str:
    """Write a table of texts under a title, its first column to the left."""
    lines = [("th", table.columns.tolist()), *(("td", row) for row in table.to_numpy().tolist())]
    rows = "".join(
        "<tr>"
        + "".join(
            f'<{tag} style="text-align: {"right" if place else "left"}">{escape(text)}</{tag}>'
            for place, text in enumerate(texts)
        )
        + "</tr>"
        for tag, texts in lines
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def escape(text: object) -> str:
    """Write a text so that HTML and Plotly show all of it, and obey nothing in it."""
    # Plotly's texts know references by number, and of the named ones not &quot;.
    return html.escape(visible(str(text))).replace("&quot;", "&#34;")
