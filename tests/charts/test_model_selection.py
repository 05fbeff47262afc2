"""Figures of which model where: what they draw is what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.breakdowns import MOST_GROUPS
from kgdash.charts.model_selection import choice_matrix, difference_points, regret_bars
from kgdash.charts.style import SIDE_COLOURS


def parts(count=2, runs=("one", "two")):
    rows = [
        {
            "part": part,
            "name": f"<p{part}>",
            "run": run,
            "relik": 0.1 * (number + 1),
            "mrr": 0.9 - 0.2 * number,
            "picked": number == len(runs) - 1,
            "best": number == 0,
            "evaluated": 40 - part,
            "triples": 1000,
            "small": part == 1,
        }
        for part in range(count)
        for number, run in enumerate(runs)
    ]
    return pd.DataFrame(rows)


def test_matrix():
    figure = choice_matrix(parts(), ["one", "two"])
    heat = figure.data[0]
    np.testing.assert_allclose(np.array(heat.z, float), [[0, -0.2], [0, -0.2]])
    assert (heat.zmin, heat.zmax) == pytest.approx((-0.2, 0))
    assert np.array(heat.text)[0].tolist() == ["0.900<br>★", "0.700<br>▲"]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;p0&gt;", "&lt;p1&gt;*"]
    assert "best MRR" in np.array(heat.hovertext)[0, 0]
    assert "picked by ReliK" in np.array(heat.hovertext)[0, 1]
    relik = choice_matrix(parts(), ["one", "two"], "relik").data[0]
    np.testing.assert_allclose(np.array(relik.z, float), [[-np.log(2), 0]] * 2)
    assert np.array(relik.text)[0, 1] == "0.200<br>▲"
    equal = choice_matrix(parts().assign(mrr=0.5), ["one", "two"]).data[0]
    assert set(np.array(equal.z).ravel()) == {0}
    closer = parts().assign(mrr=[0.9, 0.5, 0.9, 0.8])
    assert np.array(choice_matrix(closer, ["one", "two"]).data[0].z, float)[1, 1] == pytest.approx(
        -0.1
    )
    assert "no part" in choice_matrix(parts()[:0], ["one"]).layout.annotations[0].text


def test_matrix_of_many():
    names = list("abcde")
    heat = choice_matrix(parts(MOST_GROUPS + 3, names), names).data[0]
    assert np.array(heat.z).shape == (MOST_GROUPS, 5)
    assert np.array(heat.text)[0].tolist() == ["★", "", "", "", "▲"]


def test_regret():
    rows = [
        ("by ReliK", False, 0.2, 0.1, 0.3),
        ("one", True, 0.1, 0.05, 0.2),
        ("two", False, 0.4, 0.2, 0.5),
        ("the best of each part", False, 0.0, 0.0, 0.0),
    ]
    columns = ["strategy", "overall_best", "regret", "regret_low", "regret_high"]
    table = pd.DataFrame(rows, columns=columns).assign(correct=1.5, parts=3, mrr=0.5)
    figure = regret_bars(table)
    bars = figure.data[0]
    assert list(bars.x) == [0.1, 0.2, 0.4]
    assert list(figure.layout.yaxis.ticktext) == ["one (best overall)", "by ReliK", "two"]
    assert list(bars.marker.color)[:2] == [SIDE_COLOURS["tail"], SIDE_COLOURS["head"]]
    np.testing.assert_allclose(bars.error_x.array, [0.1, 0.1, 0.1])
    np.testing.assert_allclose(bars.error_x.arrayminus, [0.05, 0.1, 0.2])


def test_differences():
    table = pd.DataFrame(
        {
            "a": ["x", "x", "x", "x"],
            "b": ["y", "y", "y", "z"],
            "name": ["p", "<q>", "r", "s"],
            "part": [4, 5, 6, 7],
            "evaluated": [100, 25, 1, 9],
            "relik_difference": [0.1, -0.2, 0.3, 1.0],
            "mrr_difference": [0.5, -0.1, -0.2, 1.0],
        }
    )
    right, wrong = difference_points(table, "x", "y").data
    assert (list(right.customdata), list(wrong.customdata)) == ([4, 5], [6])
    assert (list(right.x), list(right.y)) == ([0.1, -0.2], [0.5, -0.1])
    assert list(right.marker.size) == [18, 12]
    assert right.text[1].startswith("&lt;q&gt;<br>")
    assert "no part" in difference_points(table, "x", "w").layout.annotations[0].text
