"""What a click on a chart or a table selected."""

from __future__ import annotations

from typing import Any


def selected_point(event: Any) -> Any:
    """Return the ``customdata`` of the (last) selected point of a chart, or None."""
    points = event.selection.points if event else []
    return points[-1].get("customdata") if points else None


def selected_row(event: Any) -> int | None:
    """Return the number of the (last) selected row of a table, or None."""
    rows = event.selection.rows if event else []
    return rows[-1] if rows else None
