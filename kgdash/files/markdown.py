"""What results as Markdown share: tables, and the versions that made them."""

import platform
import re
from importlib.metadata import version

import pandas as pd

from kgdash.files.visible import visible
from kgdash.version import __version__

_VERSIONED = ("pykeen", "torch", "numpy", "scipy")


def markdown_table(table: pd.DataFrame) -> str:
    """Write a table of texts as Markdown, the first column to the left, the others to the right."""
    lines = [table.columns.tolist(), [":--", *["--:"] * (table.shape[1] - 1)]]
    lines += table.astype(str).to_numpy().tolist()
    return "\n".join(f"| {' | '.join(map(inline, line))} |" for line in lines)


def inline(text: str) -> str:
    """Keep a text from outside in its line or cell, and what looks like HTML or a link a text."""
    kept = re.sub(r"([\\|\[\]`])", r"\\\1", visible(" ".join(text.split())))
    return kept.replace("&", "&amp;").replace("<", "&lt;")


def versions() -> str:
    """Name the versions of kgdash, Python, and the libraries that numbers depend on."""
    named = ", ".join(f"{name} {version(name)}" for name in _VERSIONED)
    return f"kgdash {__version__}, Python {platform.python_version()}, {named}"
