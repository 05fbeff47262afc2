"""Tables as Markdown: a name stays in its cell, and is no HTML."""

import pandas as pd

from kgdash.files.markdown import markdown_table


def test_cells():
    names = ["a|b", r"a\|b", "a\n| b", "<img src=x>&lt;", "\u202e19.0"]
    lines = markdown_table(pd.DataFrame({"name": names, "n": range(5)})).split("\n")
    assert lines == [
        "| name | n |",
        "| :-- | --: |",
        r"| a\|b | 0 |",
        r"| a\\\|b | 1 |",
        r"| a \| b | 2 |",
        "| &lt;img src=x>&amp;lt; | 3 |",
        r"| \\u202e19.0 | 4 |",
    ]
