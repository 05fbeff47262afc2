import warnings

import numpy as np
import pytest

from kgdash.charts.instance_thresholds import rates_figure
from kgdash.studies.instances.thresholds import RATES, rates_at, threshold_curve


def curve(count=40, seed=0):
    rng = np.random.default_rng(seed)
    return threshold_curve(rng.random(count) < 0.5, 10.0 ** rng.uniform(-5, 0, count))


def lines(figure):
    return [trace for trace in figure.data if trace.mode == "lines"]


def test_each_rate_is_a_step_with_a_mark_at_the_threshold():
    table = curve()
    at = rates_at(table, 0.01)
    figure = rates_figure(table, 0.01, at)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [mark.y[0] for mark in marks] == [at[rate] for rate in RATES]
    for line, rate in zip(lines(figure), RATES, strict=True):
        np.testing.assert_array_equal(line.x, table["threshold"][:-1])
        np.testing.assert_array_equal(line.y, table[rate][:-1])
        # From one value down to the next lower one the rate is that of the upper.
        assert line.line.shape == "vh"
    assert len({line.line.dash for line in lines(figure)}) == len(RATES)
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.shapes[0].x0 == 0.01


def test_raw_scores_have_a_linear_axis():
    table = threshold_curve(np.array([True, False]), np.array([-3.0, 2.0]))
    figure = rates_figure(table, 0.0, rates_at(table, 0.0), "score_answer")
    assert figure.layout.xaxis.type is None
    assert "raw score of the answering triple (linear" in figure.layout.xaxis.title.text


def test_many_steps_are_thinned_and_keep_their_ends():
    table = curve(5000)
    for line in lines(rates_figure(table, 0.1, rates_at(table, 0.1))):
        assert len(line.x) == 1000
        assert (line.x[0], line.x[-1]) == (table["threshold"].iloc[0], table["threshold"].iloc[-2])


@pytest.mark.parametrize("count", [0, 1])
def test_little_or_nothing_is_drawn_without_a_warning(count):
    table = curve(count)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = rates_figure(table, 0.5, rates_at(table, 0.5))
    assert bool(figure.layout.annotations) == (count == 0)
    figure.to_json()


def test_where_nothing_is_predicted_true_nothing_is_marked():
    table = curve()
    figure = rates_figure(table, np.inf, rates_at(table, np.inf))
    assert not figure.layout.shapes
    assert not any(len(trace.x) for trace in figure.data if trace.mode == "markers")
