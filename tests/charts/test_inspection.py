"""Figures of one triple: bins and marker as the table has them, each marked entity once."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.inspection import candidate_histogram, plane_figure

BINS = pd.DataFrame(
    {"left": [0.0, 1, 2], "right": [1.0, 2, 3], "candidates": [5, 0, 2], "known": [0, 0, 1]}
)


def test_bars_are_the_counts_and_a_line_marks_the_score():
    figure = candidate_histogram(BINS, "tail", 2.5)
    every, known = figure.data
    assert every.x.tolist() == [0.5, 1.5, 2.5]
    np.testing.assert_array_equal(every.y, [5, np.nan, 2])
    np.testing.assert_array_equal(known.y, [np.nan, np.nan, 1])
    assert [shape.x0 for shape in figure.layout.shapes] == [2.5]
    assert "2.50" in figure.layout.annotations[0].text


@pytest.mark.parametrize("score", [None, float("inf"), float("-inf")])
def test_no_line_without_a_finite_score(score):
    assert not candidate_histogram(BINS, "head", score).layout.shapes


def test_no_bins_say_why():
    figure = candidate_histogram(BINS.head(0), "head")
    assert figure.layout.annotations[0].text == "no score is finite"


def test_marked_entities_in_the_plane():
    marked = pd.DataFrame(
        {
            "id": [3, 1, 0, 2],
            "group": ["head", "tail", "candidate", "nearest"],
            "x": [1.0, 2, 3, 4],
            "y": [5.0, 6, 7, 8],
        }
    )
    labels = ["<a>", "b", "c", "d"]
    figure = plane_figure(np.zeros((4, 2)), marked, labels, (0.5, 0.25))
    names = {trace.name: trace for trace in figure.data}
    assert set(names) == {"other entities", "head", "tail", "best candidates", "nearest"}
    assert list(names["head"].customdata) == [3]
    assert list(names["best candidates"].hovertext) == ["&lt;a&gt;"]
    assert (names["tail"].x[0], names["tail"].y[0]) == (2, 6)
    assert "50%" in figure.layout.xaxis.title.text
