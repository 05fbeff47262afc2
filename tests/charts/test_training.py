"""The figure of a training while it runs."""

import pytest

from kgdash.charts.training import training_curves


def test_loss_and_mrr_by_epoch():
    figure = training_curves([0.9, 0.5, 0.4], [(1, 0.2), (3, 0.6)], 10)
    loss, mrr = figure.data
    assert (list(loss.x), list(loss.y)) == ([1, 2, 3], [0.9, 0.5, 0.4])
    assert (list(mrr.x), list(mrr.y), mrr.yaxis) == ([1, 3], [0.2, 0.6], "y2")
    assert tuple(figure.layout.xaxis.range) == (0.5, 10.5)


@pytest.mark.parametrize(("losses", "checks"), [([], []), ([1.0], []), ([float("nan")], [(1, 0)])])
def test_it_begins_with_nothing(losses, checks):
    figure = training_curves(losses, checks, 1)
    assert figure.to_plotly_json()["layout"]["height"] == 200
    assert [len(trace.x) for trace in figure.data] == [len(losses), len(checks)]
