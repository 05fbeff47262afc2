"""Figures of metrics: every bar is in sight, with room for its text."""

import math

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.message import message_of
from kgdash.charts.metrics import loss_curve, metric_bars, training_curves
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.metrics import MetricsTable

KEY = "inverse_harmonic_mean_rank"
RECORD = metric_records()[KEY]
TYPES = ("optimistic", "realistic", "pessimistic")


@pytest.mark.parametrize(
    "heights",
    [(0.7, 0.6, 0.5), (-0.2, -0.4, -0.9), (0.5, 0.0, -0.5), (5e3, 2.0, math.nan)],
)
def test_bars_and_their_texts_fit(heights):
    values = MetricsTable(pd.DataFrame([heights], [KEY], [("tail", t) for t in TYPES]))
    figure = metric_bars(values, metric_records()[KEY])
    low, high = figure.layout.yaxis.range
    finite = [h for h in heights if math.isfinite(h)]
    room = 0.1 * (max([0, *finite]) - min([0, *finite]))
    assert low <= min([0, *finite]) - (room if min(finite) < 0 else 0)
    assert high >= max([0, *finite]) + (room if max(finite) > 0 else 0)
    assert low <= 0 <= high
    assert [bar.name for bar in figure.data] == list(TYPES)


def test_without_ties_there_is_one_bar_a_side():
    columns = [(side, t) for side in ("head", "tail") for t in TYPES]
    rows = [[0.5, 0.5, 0.5, 0.7, 0.6996, 0.6995]]
    (bars,) = metric_bars(MetricsTable(pd.DataFrame(rows, [KEY], columns)), RECORD).data
    assert (bars.name, list(bars.y)) == ("realistic", [0.5, 0.6996])
    blurred = [[0.5, 0.5, 0.5, 0.7, 0.6996, 0.6992]]
    assert len(metric_bars(MetricsTable(pd.DataFrame(blurred, [KEY], columns)), RECORD).data) == 3


@pytest.mark.parametrize("height", [0.0, math.nan])
def test_nothing_to_see(height):
    values = MetricsTable(pd.DataFrame(height, [KEY], [("tail", t) for t in TYPES]))
    assert metric_bars(values, metric_records()[KEY]).layout.yaxis.range is None


def test_loss_and_mrr_by_epoch():
    figure = training_curves([0.9, 0.5, 0.4], [(1, 0.2), (3, 0.6)], 10)
    loss, mrr = figure.data
    assert (list(loss.x), list(loss.y)) == ([1, 2, 3], [0.9, 0.5, 0.4])
    assert (list(mrr.x), list(mrr.y), mrr.yaxis) == ([1, 3], [0.2, 0.6], "y2")
    assert tuple(figure.layout.xaxis.range) == (0.5, 10.5)


@pytest.mark.parametrize("checks", [[], [(1, 0)]])
def test_training_after_the_first_epoch(checks):
    figure = training_curves([1.0], checks, 1)
    assert [len(trace.x) for trace in figure.data] == [1, len(checks)]
    assert all("markers" in trace.mode for trace in figure.data if len(trace.x))


def test_training_before_the_first_epoch():
    assert message_of(training_curves([], [], 3)) == "no epoch has ended yet"


@pytest.mark.parametrize("count", [1, 2, 1999, 2000, 2001, 100_000])
def test_of_many_epochs_some_are_drawn(count):
    losses = [float(count - epoch) for epoch in range(count)]
    checks = [(epoch, 0.5) for epoch in range(1, count + 1)]
    for figure in (loss_curve(losses), training_curves(losses, checks, count)):
        for line in figure.data:
            assert len(line.x) == len(line.y) == min(count, 2000)
            assert (line.x[0], line.x[-1]) == (1, count)
        assert (np.array(figure.data[0].y) == count + 1 - np.array(figure.data[0].x)).all()
