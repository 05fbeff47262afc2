"""Figures of classification draw what the tables say."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.classification import (
    calibration_figure,
    calibrations_figure,
    labelled_histogram,
    pr_figure,
    relik_accuracy_figure,
    roc_figure,
)

CONFUSION = {"true_positive": 6, "false_positive": 2, "true_negative": 3, "false_negative": 4}
INF = float("inf")


def trace(figure, name):
    (found,) = [t for t in figure.data if t.name == name]
    return found


def curve(rows, *columns):
    return pd.DataFrame(rows, columns=["threshold", *columns])


def test_the_curves_and_where_the_threshold_is():
    table = curve(
        [(INF, 0, 0), (2.0, 0.1, 0.8), (1.0, 1, 1)], "false_positive_rate", "true_positive_rate"
    )
    roc = roc_figure(table, CONFUSION)
    assert list(trace(roc, "ROC curve").x) == [0, 0.1, 1]
    assert list(trace(roc, "ROC curve").y) == [0, 0.8, 1]
    assert list(trace(roc, "ROC curve").text) == ["∞", "2.00", "1.00"]
    point = trace(roc, "by the threshold")
    assert (point.x[0], point.y[0]) == (2 / 5, 6 / 10)
    pr = pr_figure(curve([(1.0, 0.5, 1), (INF, 1, 0)], "precision", "recall"), CONFUSION)
    assert list(trace(pr, "precision-recall curve").y) == [0.5, 1]
    point = trace(pr, "by the threshold")
    assert (point.x[0], point.y[0]) == (6 / 10, 6 / 8)
    assert set(trace(pr, "guessing").y) == {10 / 15}


def test_long_curves_keep_their_ends():
    places = np.linspace(0, 1, 9000)
    table = pd.DataFrame(
        {"threshold": places, "false_positive_rate": places, "true_positive_rate": places}
    )
    drawn = trace(roc_figure(table, CONFUSION), "ROC curve").x
    assert len(drawn) == 1500
    assert (drawn[0], drawn[-1]) == (0, 1)


def test_nothing_called_true_has_no_precision():
    nothing = CONFUSION | {"true_positive": 0, "false_positive": 0}
    table = curve([(1.0, 0.5, 1), (INF, 1, 0)], "precision", "recall")
    assert "by the threshold" not in [t.name for t in pr_figure(table, nothing).data]


@pytest.mark.parametrize("draw", [roc_figure, pr_figure])
def test_one_label_has_no_curve(draw):
    figure = draw(curve([], "a", "b"), CONFUSION)
    assert not figure.data
    assert "needs true and false triples" in figure.layout.annotations[0].text


def test_histogram():
    table = pd.DataFrame({"left": [0, 1], "right": [1, 2], "true": [0, 5], "false": [3, 1]})
    figure = labelled_histogram(table, 1.5)
    assert list(trace(figure, "true triples").y) == [0, 5]
    assert list(trace(figure, "false triples").x) == [0.5, 1.5]
    line = trace(figure, "threshold 1.50")
    assert list(line.x) == [1.5, 1.5]
    assert max(line.y) == 5
    assert len(labelled_histogram(table, -INF).data) == len(labelled_histogram(table).data) == 2
    nothing = table.assign(true=0, false=0)
    assert not labelled_histogram(nothing).data


def test_calibration():
    bins = pd.DataFrame(
        [("none", 4, 0.2, 0.5, 0.1, 0.9), ("platt", 4, 0.5, 0.5, 0.4, 0.8)],
        columns=["calibration", "count", "predicted", "observed", "low", "high"],
    )
    figure = calibration_figure(bins)
    drawn = trace(figure, "Platt")
    assert (drawn.x[0], drawn.y[0]) == (0.5, 0.5)
    assert drawn.error_y.array[0] == pytest.approx(0.3)
    assert drawn.error_y.arrayminus[0] == pytest.approx(0.1)
    assert "4 triples" in drawn.text[0]
    assert trace(figure, "sigmoid of the score").x[0] == 0.2


def test_calibration_of_several_runs_is_platts():
    bins = pd.DataFrame(
        [("none", 4, 0.2, 0.5, 0.1, 0.9), ("platt", 4, 0.5, 0.6, 0.4, 0.8)],
        columns=["calibration", "count", "predicted", "observed", "low", "high"],
    )
    runs = {f"<{number}>": bins.assign(observed=number / 8) for number in range(8)}
    figure = calibrations_figure(runs)
    for number in range(8):
        drawn = trace(figure, f"&lt;{number}&gt;")
        assert (list(drawn.x), list(drawn.y)) == ([0.5], [number / 8])
    looks = {(line.marker.color, line.marker.symbol) for line in figure.data[1:]}
    assert len(looks) == 8


def test_relik():
    row = {"true": 9, "relik": 0.1, "relik_least": 0.05, "relik_most": 0.2}
    row |= {"recall": 0.8, "recall_low": 0.7, "recall_high": 0.9}
    row |= {"accuracy": 0.75, "accuracy_low": 0.7, "accuracy_high": 0.8}
    table = pd.DataFrame([row, row | {"relik": 0.3, "recall": 0.9}])
    figure = relik_accuracy_figure(table)
    assert list(trace(figure, "true triples predicted true").y) == [0.8, 0.9]
    assert list(trace(figure, "true and corrupted ones classified right").x) == [0.1, 0.3]
    given = table.assign(accuracy=np.nan)
    assert [t.name for t in relik_accuracy_figure(given).data] == ["true triples predicted true"]
