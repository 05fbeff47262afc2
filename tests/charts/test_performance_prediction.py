"""Charts of expected performance: what they draw is what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.performance_prediction import _ticks, coverage_figure, prediction_scatter

POINTS = pd.DataFrame(
    {
        "relik": [0.01, 0.1, 0.05],
        "observed": [0.2, 0.6, 0.5],
        "predicted": [0.25, 0.4, 0.45],
        "low": [0.1, 0.3, 0.4],
        "high": [0.4, 0.5, 0.5],
    }
)
BAND = pd.DataFrame(
    {"relik": [0.01, 0.1], "predicted": [0.2, 0.4], "low": [0.1, 0.3], "high": [0.3, 0.5]}
)
HERE = {"relik": 0.03, "predicted": 0.3, "low": 0.25, "high": 0.45, "observed": 0.4}


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_points_inside_and_outside():
    figure = prediction_scatter(POINTS, BAND, "tail_mrr", ["<a>\nb", "c", "d"])
    found = traces(figure)
    inside, outside = found["inside their interval (2)"], found["outside (1)"]
    assert (list(inside.x), list(inside.y)) == ([0.01, 0.05], [0.2, 0.5])
    assert (list(inside.customdata), list(outside.customdata)) == ([0, 2], [1])
    assert inside.text[0].startswith("&lt;a&gt;<br>b<br>ReliK 0.0100<br>tail MRR 0.200")
    assert list(found["interval"].y) == [0.3, 0.5, 0.3, 0.1]
    assert list(found["predicted"].y) == [0.2, 0.4]
    assert figure.layout.yaxis.title.text == "tail MRR ↑"
    assert "expected here" not in found


def test_the_own_subgraph():
    found = traces(prediction_scatter(POINTS, BAND, "tail_mrr", list("abc"), HERE))
    expected = found["expected here"]
    assert (list(expected.x), list(expected.y)) == ([0.03], [0.3])
    assert expected.error_y.array[0] == pytest.approx(0.15)
    assert expected.error_y.arrayminus[0] == pytest.approx(0.05)
    assert list(found["true value here"].y) == [0.4]
    unknown = {**HERE, "observed": np.nan}
    found = traces(prediction_scatter(POINTS, BAND, "tail_mrr", list("abc"), unknown))
    assert "true value here" not in found
    nothing = dict.fromkeys(HERE, np.nan)
    assert "expected here" not in traces(
        prediction_scatter(POINTS, BAND, "tail_mrr", list("abc"), nothing)
    )


def test_coverage():
    row = {"subgraphs": 40, "width": 0.2}
    rows = [
        {**row, "scheme": s, "level": v, "covered": c, "covered_low": c - 0.1, "covered_high": 1.0}
        for s, v, c in (
            ("overlapping", 0.5, 0.6),
            ("overlapping", 0.9, 0.85),
            ("disjoint", 0.5, 0.4),
        )
    ]
    found = traces(coverage_figure(pd.DataFrame(rows)))
    assert list(found["learnt from any"].y) == [0.6, 0.85]
    assert list(found["sharing no evaluated triple"].y) == [0.4]
    assert found["learnt from any"].error_y.arrayminus[0] == pytest.approx(0.1)
    assert found["learnt from any"].customdata[1][0] == 0.9
    empty = coverage_figure(pd.DataFrame(rows).assign(covered=np.nan))
    assert empty.layout.annotations[0].text == "no subgraph could be predicted"


@pytest.mark.parametrize("span", [(0.09, 0.17), (0.11, 0.12), (1e-4, 0.1), (0.4, 0.9)])
def test_ticks_are_several_and_inside(span):
    ticks, texts = _ticks(*span)
    assert 2 <= len(ticks) <= 12
    assert len(set(texts)) == len(ticks)
    assert span[0] * 0.998 <= min(ticks) <= max(ticks) <= span[1] * 1.002
