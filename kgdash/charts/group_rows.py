"""Rows of a figure that are groups of instances, their names above them."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from kgdash.charts.breakdowns import shortened
from kgdash.charts.style import finish

#: groups drawn per figure
_MOST_GROUPS = 20

_NAME_LENGTH = 54


def first_groups(groups: Sequence[str]) -> tuple[list[str], str]:
    """Return the groups to draw, and what to say of the others; "all" is always drawn."""
    distinct = list(dict.fromkeys(groups))
    together = [group for group in distinct if group == "all"]
    apart = [group for group in distinct if group != "all"]
    note = f"<br>the first {_MOST_GROUPS} of {len(apart):,} groups"
    return [*apart[:_MOST_GROUPS], *together], note if len(apart) > _MOST_GROUPS else ""


def group_rows(
    figure: go.Figure,
    message: str,
    groups: Sequence[str],
    names: Mapping[str, str] | None,
    height: int,
    **layout: Any,
) -> go.Figure:
    """Give each group a row, its name above: beside the row it would take a phone's whole width.

    :param message: as `finish` takes it
    :param figure: group i is drawn about y = −i
    :param height: of a row, in pixels
    """
    # All at once: one by one, Plotly would check all that there are again at each.
    figure.update_layout(
        annotations=[
            {
                "text": escape(shortened(group_name(group, names), _NAME_LENGTH)),
                "hovertext": group_label(group, names),
                "showarrow": False,
                "xref": "paper",
                "x": 0,
                "xanchor": "left",
                "y": 0.29 - place,
                "yanchor": "bottom",
            }
            for place, group in enumerate(groups)
        ],
        shapes=[
            *figure.layout.shapes,
            *(
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": 0.6 - place,
                    "y1": 0.6 - place,
                    "line": {"width": 1, "color": "rgba(128,138,150,0.3)"},
                }
                for place in range(1, len(groups))
            ),
        ],
    )
    figure.update_yaxes(
        range=[-len(groups) + 0.55, 0.7], showgrid=False, showticklabels=False, fixedrange=True
    )
    return finish(figure, message, height=120 + height * len(groups), **layout)


def group_label(group: str, names: Mapping[str, str] | None) -> str:
    """Return what a group is called, for a label that shows on hover."""
    return escape(group_name(group, names))


def group_name(group: str, names: Mapping[str, str] | None) -> str:
    """Return what a group is called, plain."""
    return str((names or {}).get(group, "all groups" if group == "all" else group))
