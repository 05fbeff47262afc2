"""Run docs/example.ipynb and keep what its cells show: ``python scripts/make_notebook.py``.

Needs no Jupyter; figures are kept as PNG, which a Chromium draws.
"""

import ast
import base64
import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from kgdash.charts.export import FigureSize, figure_bytes
from kgdash.charts.message import message_of

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "example.ipynb"


def picture(figure: go.Figure) -> str:
    """Draw a figure as PNG, in base 64."""
    return base64.b64encode(figure_bytes(figure, ".png", size=FigureSize(760, scale=1))).decode()


def executed(notebook: dict, draw: Callable[[go.Figure], str] = picture) -> dict:
    """Run the code cells of a notebook in one namespace, as Jupyter does, and return it with them.

    :param draw: what stands for a figure
    """
    namespace: dict[str, Any] = {}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = outputs_of("".join(cell["source"]), namespace, count, draw)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def outputs_of(
    source: str, namespace: dict[str, Any], count: int, draw: Callable[[go.Figure], str]
) -> list[dict]:
    """Run a cell; return what it prints, and its last expression as a notebook shows it."""
    *statements, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        statements, last = [*statements, last], None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), f"cell {count}", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)
    outputs: list[dict] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        shown = {"execution_count": count, "metadata": {}, "output_type": "execute_result"}
        outputs.append({"data": data_of(value, draw), **shown})
    return outputs


def data_of(value: Any, draw: Callable[[go.Figure], str]) -> dict[str, Any]:
    """Return how a value shows itself, by type of content."""
    if isinstance(value, go.Figure):
        return {"image/png": draw(value), "text/plain": [message_of(value)]}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return dict(sorted(data.items()))


if __name__ == "__main__":
    made = executed(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {NOTEBOOK} ({NOTEBOOK.stat().st_size / 1e3:.0f} kB)")
