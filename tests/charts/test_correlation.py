"""Figures of the correlation study draw their tables, point by point."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.correlation import size_sweep, study_scatter, task_intervals, task_label

FIGURES = pd.DataFrame(
    {
        "evaluated": [4, 1, 0, 9],
        "relik": [0.1, 0.001, 0.2, np.nan],
        "tail_mrr": [0.5, 0.25, np.nan, 0.3],
    }
)
BAND = pd.DataFrame(
    {"relik": [0.001, 0.1], "mean": [0.2, 0.5], "low": [0.1, 0.4], "high": [0.3, 0.6]}
)
FOUND = pd.DataFrame(
    [
        (size, task, coefficient, value, p, value - 0.1, value + 0.2, 30)
        for size, shift in ((20, 0.0), (60, 0.3))
        for task, p in (("tail_mrr", 0.05), ("accuracy", 0.051))
        for coefficient, value in (("pearson", 0.1 + shift), ("kendall", -0.4))
    ],
    columns=["size", "task", "coefficient", "value", "p_permutation", "low", "high", "subgraphs"],
)


@pytest.mark.parametrize(
    ("task", "label"),
    [
        ("tail_mrr", "tail MRR"),
        ("relation_mrr", "relation MRR"),
        ("head_hits_at_10", "Hits@10 of heads"),
        ("both_hits_at_1", "Hits@1 of both sides"),
        ("relation_hits_at_3", "Hits@3 of relations"),
        ("accuracy", "classification accuracy"),
    ],
)
def test_labels(task, label):
    assert task_label(task) == label


def test_scatter():
    figure = study_scatter(FIGURES, "tail_mrr", BAND, ["<a>\nb", "c", "d", "e"])
    band, line, points = figure.data
    assert list(points.customdata) == [0, 1]
    assert (list(points.x), list(points.y)) == ([0.1, 0.001], [0.5, 0.25])
    assert list(points.text) == ["&lt;a&gt;<br>b", "c"]
    assert points.marker.size[0] > points.marker.size[1]
    assert (list(line.x), list(line.y)) == ([0.001, 0.1], [0.2, 0.5])
    assert (list(band.x), list(band.y)) == ([0.001, 0.1, 0.1, 0.001], [0.3, 0.6, 0.4, 0.1])
    assert figure.layout.xaxis.type is None
    alone = study_scatter(FIGURES, "tail_mrr", BAND[:0], list("abcd"), log_relik=True)
    assert len(alone.data) == 1
    assert alone.layout.xaxis.type == "log"


def test_tasks_side_by_side():
    (dots,) = task_intervals(FOUND[FOUND["size"] == 60], "pearson").data
    assert list(dots.y) == ["classification accuracy", "tail MRR"]
    assert list(dots.x) == [0.4, 0.4]
    assert list(dots.marker.symbol) == ["circle-open", "circle"]
    np.testing.assert_allclose(dots.error_x.array, 0.2)
    np.testing.assert_allclose(dots.error_x.arrayminus, 0.1)


def test_sizes():
    figure = size_sweep(FOUND, "pearson", ["tail_mrr", "head_mrr", "accuracy"])
    assert [trace.name for trace in figure.data] == ["tail MRR", "classification accuracy"]
    for trace, symbol in zip(figure.data, ("circle", "star-open"), strict=True):
        assert list(trace.customdata) == [20, 60]
        assert np.round(trace.x).tolist() == [20, 60]
        assert list(trace.y) == pytest.approx([0.1, 0.4])
        assert set(trace.marker.symbol) == {symbol}
    assert figure.data[0].x[0] < 20 < figure.data[1].x[0]
    assert list(figure.layout.xaxis.tickvals) == [20, 60]


def test_nothing_to_draw():
    nothing = FIGURES.assign(tail_mrr=np.nan)
    none = FOUND.assign(value=np.nan)
    for figure in (
        study_scatter(nothing, "tail_mrr", BAND, list("abcd")),
        task_intervals(none, "pearson"),
        size_sweep(none, "pearson", ["tail_mrr"]),
        size_sweep(FOUND, "pearson", ["head_mrr"]),
    ):
        assert not figure.data
        assert figure.layout.annotations[0].text
