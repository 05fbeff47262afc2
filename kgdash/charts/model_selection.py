"""Figures of which model to trust where: parts × runs, what choosing costs, pairs of runs."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kgdash.charts.breakdowns import MOST_GROUPS, shortened
from kgdash.charts.comparison import BESIDE, ROOMY, HeatmapCells, run_heatmap
from kgdash.charts.message import by_halves, of_each, with_message
from kgdash.charts.style import (
    CELL_SCALE,
    GREY,
    SIDE_COLOURS,
    add_row_bars,
    empty,
    finish,
    name_rows,
    whiskers,
)
from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: what ReliK picks, and what is best
PICKED, BEST = "▲", "★"

#: of picking by ReliK, of the best overall, of all others
_RELIK, _LEADER, _OTHER = SIDE_COLOURS["head"], SIDE_COLOURS["tail"], "#8a96a3"

#: names of the cells' values
MEASURES = {"mrr": "MRR", "relik": "ReliK"}


def choice_matrix(table: pd.DataFrame, runs: list[str], measure: str = "mrr") -> go.Figure:
    """Draw part × run: what ReliK picks, what is best, and by colour how far a run is from that.

    The colours are those of one scale: a gap looks the same in each part.

    Where there are more than four runs, cells hold the marks alone, for want of room.

    :param table: of `PartScores`, parts from top to bottom; the first 25 are drawn
    :param measure: "mrr" or "relik": what the cells hold and are coloured by
    """
    rows = table.head(MOST_GROUPS * len(runs))
    if not len(rows):
        return empty("no part holds an evaluated triple")
    values = rows[measure].to_numpy().reshape(-1, len(runs))
    # ReliK spans magnitudes: its gaps are ratios.
    scaled = np.log(values) if measure == "relik" else values
    gaps = scaled.max(axis=1, keepdims=True) - scaled
    widest = float(np.nan_to_num(gaps).max())
    roomy = len(runs) <= ROOMY
    records = rows.to_dict("records")
    texts = [f"{number(row[measure])}<br>" * roomy + _marks(row) for row in records]
    names = [
        shortened(row["name"], BESIDE) + "*" * bool(row["small"])
        for row in rows.iloc[:: len(runs)].to_dict("records")
    ]
    cells = HeatmapCells(-gaps, texts, [_about(row) for row in records])
    best = rows.groupby("run", sort=False)[["best", "picked"]].sum()
    counts = [
        f"{run} is best in {row.best}, picked in {row.picked}" for run, row in best.iterrows()
    ]
    message = (
        f"{MEASURES[measure]} of runs in {len(names)} parts: {'; '.join(counts)}. {runs[0]}: "
        f"{of_each(rows.loc[rows['run'] == runs[0], 'name'], values[:, 0])}."
    )
    return with_message(run_heatmap(cells, names, runs, CELL_SCALE, (-widest or -1.0, 0)), message)


def _marks(row: dict) -> str:
    return f"{PICKED * row['picked']} {BEST * row['best']}".strip()


def _about(row: dict) -> str:
    marks = ["picked by ReliK"] * row["picked"] + ["best MRR"] * row["best"]
    return (
        f"{escape(str(row['name']))}<br>{escape(str(row['run']))}"
        f"{': ' + ', '.join(marks) if marks else ''}<br>"
        f"MRR {number(row['mrr'])} over {row['evaluated']:,}, ReliK {number(row['relik'])} over "
        f"{row['triples']:,} triples"
    )


def regret_bars(strategies: pd.DataFrame) -> go.Figure:
    """Draw by how much each way to choose falls short of the best of each part, with intervals.

    :param strategies: of `kgdash.studies.comparison.model_selection.strategies`, in its order
    """
    rows = strategies[:-1].assign(by_relik=np.arange(len(strategies) - 1) == 0)
    rows = rows.sort_values("regret", kind="stable")
    names = [
        f"{shortened(row['strategy'], BESIDE)}{' (best overall)' * row['overall_best']}"
        for row in rows.to_dict("records")
    ]
    colours = [
        _RELIK if row.by_relik else _LEADER if row.overall_best else _OTHER
        for row in rows.itertuples()
    ]
    figure = go.Figure()
    add_row_bars(
        figure,
        rows["regret"],
        [
            f"{escape(row['strategy'])}<br>regret {number(row['regret'])} "
            f"({number(row['regret_low'])} to {number(row['regret_high'])})<br>right in "
            f"{row['correct']:,.4g} of {row['parts']:,}<br>MRR {number(row['mrr'])}"
            for row in rows.to_dict("records")
        ],
        width=0.5,
        marker={"color": colours, "opacity": 0.75},
        error_x=whiskers(rows["regret"], rows["regret_low"], rows["regret_high"], GREY),
        showlegend=False,
    )
    figure.update_xaxes(title="mean regret in MRR ↓", rangemode="tozero")
    name_rows(figure, names)
    found = of_each(rows["strategy"], rows["regret"], rows["regret_low"], rows["regret_high"])
    message = f"Mean regret in MRR: {found}."
    return finish(figure, message, height=90 + 44 * len(rows), top=8)


def difference_points(differences: pd.DataFrame, a: str, b: str) -> go.Figure:
    """Draw, per part, the difference of ReliK of two runs against that of MRR.

    Where both have one sign ReliK says right which is better: those are filled. Points grow with
    the evaluated triples and carry the part as ``customdata``.

    :param differences: of `kgdash.studies.comparison.model_selection.pair_differences`
    :param a: name of the first run
    :param b: name of the second
    """
    rows = differences[(differences["a"] == a) & (differences["b"] == b)]
    if not len(rows):
        return empty("no part holds an evaluated triple")
    figure = go.Figure()
    right = (rows["relik_difference"] * rows["mrr_difference"] > 0).to_numpy()
    scale = np.sqrt(rows["evaluated"] / rows["evaluated"].max()).to_numpy()
    kinds = (("ReliK says right", right, _RELIK), ("ReliK says wrong, or equal", ~right, _LEADER))
    for name, at, colour in kinds:
        part = rows[at]
        figure.add_scatter(
            x=part["relik_difference"],
            y=part["mrr_difference"],
            mode="markers",
            name=name,
            marker={
                "color": colour,
                "opacity": 0.7,
                "size": 6 + 12 * scale[at],
                "symbol": "circle" if at is right else "diamond-open",
                "line": {"width": 1.5, "color": colour},
            },
            customdata=part["part"].tolist(),
            text=[
                f"{escape(str(row['name']))}<br>difference of ReliK "
                f"{number(row['relik_difference'])}, of MRR {number(row['mrr_difference'])}<br>"
                f"{row['evaluated']:,} evaluated"
                for row in part.to_dict("records")
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    for add in (figure.add_hline, figure.add_vline):
        add(**{"y" if add == figure.add_hline else "x": 0}, line={"color": GREY, "width": 1.5})
    names = f"{escape(shortened(a, BESIDE))} − {escape(shortened(b, BESIDE))}"
    figure.update_xaxes(title=f"difference of ReliK: {names}")
    figure.update_yaxes(title="difference of MRR")
    found = by_halves(
        "difference of ReliK", rows["relik_difference"], "difference of MRR", rows["mrr_difference"]
    )
    message = f"{a} − {b}: ReliK says right which is better in {right.sum()} of {found}."
    return finish(figure, message, height=440, clickmode="event+select", showlegend=True)
