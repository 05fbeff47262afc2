"""The main table of metrics as LaTeX, for the package booktabs."""

import numpy as np
import pandas as pd

from kgdash.files.visible import visible
from kgdash.ranking.main_table import MAIN_METRICS
from kgdash.ranking.metric_lookup import metric_records
from kgdash.statistics.rounding import rounded

#: digits after the point of metrics between 0 and 1; mean and median ranks have one less
DIGITS = 3

_RANKS = ("arithmetic_mean_rank", "median_rank")

#: what LaTeX reads as more than a character. Brackets and stars too: "\\" at the end of a row
#: takes them for an argument of its own where the next row begins with one.
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "“": "``",
        "”": "''",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def latex_escape(text: str) -> str:
    """Return text as LaTeX prints it letter by letter; any white space becomes one blank.

    What nobody would see is written as `kgdash.files.visible.visible` has it.
    """
    return visible(" ".join(text.split())).translate(_ESCAPES)


def latex_table(
    table: pd.DataFrame, caption: str, label: str = "tab:metrics", digits: int = DIGITS
) -> str:
    """Write the main table as a LaTeX table; where it has several runs, the best are bold.

    :param table: of `kgdash.ranking.main_table.main_table`
    :param caption: plain text
    :param label: to refer to the table by: letters, digits, ":", "-", "."
    :param digits: after the point; mean and median ranks get one less
    :return: a ``table`` that needs ``\\usepackage{booktabs}``, as a comment in its first line says
    """
    guide = metric_records()
    best = _best(table)
    shown = _named(table)
    shown.columns = pd.Index([_heading(MAIN_METRICS[key], guide[key].arrow) for key in table])
    styler = shown.style
    for heading, key in zip(shown.columns, table, strict=True):
        places = max(0, digits - (key in _RANKS))
        styler = styler.format(f"{{:.{places}f}}", na_rep="--", subset=[heading])
    bold = pd.DataFrame(
        np.where(best, "textbf:--rwrap;", ""), index=shown.index, columns=shown.columns
    )
    text = styler.apply(lambda _: bold, axis=None).to_latex(
        hrules=True,
        caption=latex_escape(caption),
        label=label,
        position="htbp",
        position_float="centering",
        column_format="l" * shown.index.nlevels + "r" * shown.shape[1],
        multirow_align="naive",
    )
    return f"% \\usepackage{{booktabs}}\n{text}"


def latex_caption(table: pd.DataFrame, evaluated: str) -> str:
    """Return a caption for a table: what it is of, and what its rows do not tell.

    :param table: of `kgdash.ranking.main_table.main_table`
    :param evaluated: of `kgdash.ranking.main_table.evaluated_text`
    """
    levels = {name: table.index.unique(name).tolist() for name in table.index.names}
    parts = [f"Link prediction on {evaluated}"]
    if len(levels["run"]) == 1:
        parts[0] = f"Link prediction by {levels['run'][0]} on {evaluated}"
    if len(levels["ranks"]) == 1:
        parts.append(f"{levels['ranks'][0]} ranks")
    if len(levels["side"]) > 1:
        parts.append("“both” pools the ranks of both sides")
    if len(levels["run"]) > 1:
        parts.append("the best of each column in bold")
    return "; ".join(parts) + "."


def _best(table: pd.DataFrame) -> np.ndarray:
    """Tell which values are the best of their column among several runs, side by side."""
    if table.index.get_level_values("run").nunique() < 2:
        return np.zeros(table.shape, dtype=bool)
    guide = metric_records()
    signs = np.array([1.0 if guide[key].increasing else -1.0 for key in table])
    values = table.apply(rounded, raw=True) * signs
    return (values == values.groupby(level=["side", "ranks"]).transform("max")).to_numpy()


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with escaped row names, without levels that tell nothing."""
    index = table.index.to_frame(index=False)
    levels = [name for name in index if index[name].nunique() > 1] or ["side"]
    names = index[levels].map(latex_escape)
    # Named levels would take a second line of headings.
    return table.set_axis(pd.MultiIndex.from_frame(names, names=[None] * len(levels)), axis=0)


def _heading(name: str, arrow: str) -> str:
    signs = {"↑": r" $\uparrow$", "↓": r" $\downarrow$"}
    return latex_escape(name) + signs.get(arrow, "")
