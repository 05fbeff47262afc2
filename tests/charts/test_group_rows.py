"""The coverage map draws the table, what surely falls short on top."""

import pandas as pd

from kgdash.charts.group_rows import coverage_figure
from kgdash.charts.message import message_of

TABLE = pd.DataFrame(
    {
        "group": ["few", "broken", "kept", "above"],
        "n": [2, 500, 500, 900],
        "coverage": [0.5, 0.7, 0.9, 0.98],
        "low": [0.01, 0.65, 0.87, 0.97],
        "high": [0.99, 0.74, 0.93, 0.99],
        "mean_size": [3.0, 40.0, 4.0, 2.0],
        "p_holm": [0.4, 0.001, 1.0, 0.001],
    }
)


def test_worst_first_with_colours_and_rows():
    points = coverage_figure(TABLE, 0.1).data[0]
    assert list(points.customdata) == [1, 2, 0, 3]
    assert list(points.x) == [0.7, 0.9, 0.5, 0.98]
    colours = list(points.marker.color)
    assert colours[1] == colours[2]
    assert len(set(colours)) == 3
    assert list(points.marker.symbol) == ["circle"] * 2 + ["circle-open", "circle"]


def test_an_interval_alone_colours_nothing():
    """Of 40 groups that all keep the promise some interval left it out in 64 of 100 draws."""
    by_chance = TABLE.assign(p_holm=0.06)
    assert len(set(coverage_figure(by_chance, 0.1).data[0].marker.color)) == 1


def test_in_order_and_what_it_says():
    figure = coverage_figure(TABLE, 0.1, in_order=True)
    assert list(figure.data[0].customdata) == [0, 1, 2, 3]
    assert "promised 90%" in message_of(figure)
    assert coverage_figure(TABLE[:0], 0.1).layout.meta["message"] == "no test query"
