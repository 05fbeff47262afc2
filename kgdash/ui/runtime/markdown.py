"""Names in Streamlit's texts, which it reads as Markdown."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Escape what Markdown, LaTeX or Streamlit's colours and icons would read into a name.

    >>> plain("a_b*c $x$ :red[y]")
    'a\\\\_b\\\\*c \\\\$x\\\\$ \\\\:red\\\\[y\\\\]'
    """
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$~|<>:&])", r"\\\1", text)
