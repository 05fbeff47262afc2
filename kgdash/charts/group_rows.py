"""Groups in the rows of a figure: of instances, their names above them; of queries, by coverage."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import shortened
from kgdash.charts.message import of_each
from kgdash.charts.style import GREY, SIDE_COLOURS, empty, finish, short_label, whiskers
from kgdash.files.html import escape
from kgdash.statistics.estimate import number, percent
from kgdash.statistics.multiple_testing import LEVEL

#: groups drawn per figure
_MOST_GROUPS = 20

#: letters of a name, of each of its lines if it takes two, and pixels of a row then
_NAME_LENGTH, _LINE, _TWO_LINES = 54, 62, 108

#: letters of an atom below which the body is cut as a whole
_FEWEST = 15

#: groups of queries drawn, letters of a name, and queries below which a point is hollow
_MOST_POINTS, _SHORT, _FEW = 24, 28, 30

#: of groups that are told from the promise, below or above, and of those that are not
_BROKEN, _ABOVE, _KEPT = SIDE_COLOURS["tail"], SIDE_COLOURS["head"], SIDE_COLOURS["both"]


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
    :param height: of a row, in pixels; where a rule takes two lines, rows may be higher
    """
    texts = [_above(group_name(group, names)) for group in groups]
    if any("<br>" in text for text in texts):
        height = max(height, _TWO_LINES)
    # All at once: one by one, Plotly would check all that there are again at each.
    figure.update_layout(
        annotations=[
            {
                "text": text,
                "align": "left",
                "hovertext": group_label(group, names),
                "showarrow": False,
                "xref": "paper",
                "x": 0,
                "xanchor": "left",
                "y": 0.29 - place,
                "yanchor": "bottom",
            }
            for place, (group, text) in enumerate(zip(groups, texts, strict=True))
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


def _above(name: str) -> str:
    """Write a group's name above its row; of a rule that is too long, what follows stands beneath.

    The body's atoms share a line, so that each keeps its ends: rules often differ in one of them.
    """
    body, arrow, head = name.partition(" ⇒ ")
    if not arrow or len(name) <= _NAME_LENGTH:
        return escape(shortened(name, _NAME_LENGTH))
    atoms = body.split(" ∧ ")
    share = (_LINE - 3 * (len(atoms) - 1)) // len(atoms)
    longer = sum(len(atom) > share for atom in atoms)
    spare = sum(max(share - len(atom), 0) for atom in atoms) // max(longer, 1)
    lines = [
        " ∧ ".join(shortened(atom, share + spare) for atom in atoms)
        if share >= _FEWEST
        else shortened(body, _LINE),
        f"⇒ {shortened(head, _LINE - 2)}",
    ]
    return "<br>".join(map(escape, lines))


def group_label(group: str, names: Mapping[str, str] | None) -> str:
    """Return what a group is called, for a label that shows on hover."""
    return escape(group_name(group, names))


def group_name(group: str, names: Mapping[str, str] | None) -> str:
    """Return what a group is called, plain."""
    return str((names or {}).get(group, "all groups" if group == "all" else group))


def coverage_figure(table: pd.DataFrame, epsilon: float, in_order: bool = False) -> go.Figure:
    """Draw the coverage of groups with intervals against the promise 1 − ε.

    On top is the group of the lowest upper end. Coloured are those whose p tells them from the
    promise after Holm's correction: of many intervals some leave it out by chance.
    ``customdata`` of a point is the row number in ``table``.

    :param table: of `kgdash.studies.probability.answer_sets.AnswerSets.by_groups`
    :param in_order: groups stay in the order of the table
    """
    if table.empty:
        return empty("no test query")
    rows = table.assign(row=np.arange(len(table)))
    if not in_order:
        rows = rows.sort_values(["high", "coverage"], kind="stable")
    rows, promise = rows.head(_MOST_POINTS), 1 - epsilon
    names = [escape(short_label(str(group), _SHORT)) for group in rows["group"]]
    place = -np.arange(len(rows), dtype=float)
    told, below = rows["p_holm"] <= LEVEL, rows["coverage"] < promise
    colours = np.select([told & below, told], [_BROKEN, _ABOVE], _KEPT)
    figure = go.Figure()
    figure.add_scatter(
        x=rows["coverage"],
        y=place,
        mode="markers",
        name="coverage",
        marker={
            "color": colours,
            "size": 10,
            "symbol": np.where(rows["n"] < _FEW, "circle-open", "circle"),
            "line": {"width": 2},
        },
        error_x=whiskers(rows["coverage"], rows["low"], rows["high"], GREY, thickness=1.5),
        customdata=rows["row"].tolist(),
        text=[
            f"{escape(str(row.group))}<br>coverage {row.coverage:.1%}, {row.low:.1%} to "
            f"{row.high:.1%}<br>{row.n:,} queries, mean size {number(row.mean_size)}"
            for row in rows.itertuples()
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.add_vline(x=promise, line={"color": GREY, "dash": "dash", "width": 1.5})
    least = min(float(rows["low"].min()), promise)
    figure.update_xaxes(
        title=f"sets that hold the true answer<br>dashed: {percent(promise)} promised",
        range=[max(least - 0.03, -0.02), 1.02],
        tickformat=".0%",
    )
    figure.update_yaxes(
        tickvals=place, ticktext=names, range=[0.7 - len(rows), 0.7], showgrid=False
    )
    found = of_each(rows["group"].astype(str), rows["coverage"], rows["low"], rows["high"])
    message = f"Coverage against the promised {percent(promise)}: {found}."
    height = 100 + 24 * len(rows)
    return finish(figure, message, height, clickmode="event+select", showlegend=False)
