"""The figure of a training while it runs."""

import pytest

from kgdash.charts.message import message_of
from kgdash.charts.training import training_curves


def test_loss_and_mrr_by_epoch():
    figure = training_curves([0.9, 0.5, 0.4], [(1, 0.2), (3, 0.6)], 10)
    loss, mrr = figure.data
    assert (list(loss.x), list(loss.y)) == ([1, 2, 3], [0.9, 0.5, 0.4])
    assert (list(mrr.x), list(mrr.y), mrr.yaxis) == ([1, 3], [0.2, 0.6], "y2")
    assert tuple(figure.layout.xaxis.range) == (0.5, 10.5)


@pytest.mark.parametrize("checks", [[], [(1, 0)]])
def test_after_the_first_epoch(checks):
    figure = training_curves([1.0], checks, 1)
    assert [len(trace.x) for trace in figure.data] == [1, len(checks)]
    assert all("markers" in trace.mode for trace in figure.data if len(trace.x))


def test_before_the_first_epoch():
    assert message_of(training_curves([], [], 3)) == "no epoch has ended yet"
