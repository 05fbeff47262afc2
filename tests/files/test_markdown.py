"""Tables as Markdown: a name stays in its cell, and is no HTML."""

import pandas as pd

from kgdash.files.markdown import inline, markdown_table


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


def test_texts_from_outside_are_texts():
    assert inline("x\n\n# y <script>") == "x # y &lt;script>"
    assert inline("[a](b:c) ![d](e) `f`") == r"\[a\](b:c) !\[d\](e) \`f\`"
