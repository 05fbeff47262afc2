"""Charts of confounders of ReliK: what they draw is what the tables hold."""

import numpy as np
import pandas as pd

from kgdash.charts import confounder_points
from kgdash.charts.confounder_points import class_boxes, factor_points
from kgdash.charts.confounders import factor_forest, partial_forest
from kgdash.charts.style import SIDE_COLOURS


def factor_rows():
    rows = [
        ("head_degree", "spearman", 0.5, 0.4, 0.6, 0.001),
        ("tail_degree", "spearman", -0.3, -0.5, -0.1, 0.04),
        ("frequency", "spearman", 0.1, 0.05, 0.3, 0.051),
        ("entity_degree", "spearman", np.nan, np.nan, np.nan, np.nan),
        ("pattern", "epsilon squared", 0.2, np.nan, np.nan, 0.01),
    ]
    columns = ["factor", "measure", "value", "low", "high", "p_holm"]
    return pd.DataFrame(rows, columns=columns).assign(triples=9)


def test_factors_are_coloured_by_sign_and_chance():
    figure = factor_forest(factor_rows())
    found = {
        factor: (x, -y, trace.marker.color)
        for trace in figure.data
        for factor, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert found == {
        "head_degree": (0.5, 0, SIDE_COLOURS["head"]),
        "tail_degree": (-0.3, 1, SIDE_COLOURS["tail"]),
        "frequency": (0.1, 2, "#8a96a3"),
    }
    assert list(figure.layout.yaxis.ticktext)[1] == "degree of the tail"
    np.testing.assert_allclose(figure.data[0].error_x.arrayminus, [0.1])
    nothing = factor_forest(factor_rows().assign(value=np.nan))
    assert "same everywhere" in nothing.layout.annotations[0].text


def triples(count):
    rng = np.random.default_rng(0)
    degrees = rng.integers(0, 50, count)
    names = {name: ["<b>"] * count for name in ("head", "relation", "tail")}
    return pd.DataFrame({**names, "head_degree": degrees, "relik": 1.0 / (1 + degrees)})


def test_few_triples_are_points():
    table = triples(200)
    points, medians = factor_points(table, "head_degree").data
    np.testing.assert_array_equal(points.x, 1.0 + table["head_degree"])
    np.testing.assert_array_equal(points.y, table["relik"])
    assert list(points.customdata) == list(range(200))
    assert points.text[0].startswith("&lt;b&gt;, &lt;b&gt;, &lt;b&gt;<br>degree of the head: ")
    # ReliK is 1/(1 + degree), and so are its medians over groups of equal or near degrees.
    np.testing.assert_allclose(medians.y, 1 / np.array(medians.x), rtol=0.05)
    assert (np.diff(medians.x) > 0).all()
    figure = factor_points(table, "head_degree")
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert "no triples" in factor_points(table[:0], "head_degree").layout.annotations[0].text


def test_many_triples_are_cells(monkeypatch):
    monkeypatch.setattr(confounder_points, "MOST_POINTS", 50)
    cells, _ = factor_points(triples(200), "head_degree").data
    assert cells.type == "heatmap"
    assert np.nansum(np.array(cells.customdata, dtype=float)) == 200
    same = triples(60).assign(head_degree=3, relik=0.5)
    assert np.nansum(np.array(factor_points(same, "head_degree").data[0].customdata)) == 60


def test_boxes():
    columns = ["class", "triples", "mean", "least", "lower_quartile", "median", "upper_quartile"]
    row = ["<n-n>", 1200, 0.3, 0.01, 0.1, 0.2, 0.4]
    figures = pd.DataFrame([row], columns=columns).assign(greatest=1.0)
    box = class_boxes(figures).data[0]
    assert list(box.x) == ["&lt;n-n&gt;<br>n = 1,200"]
    ends = (box.lowerfence, box.q1, box.median, box.q3, box.upperfence, box.mean)
    assert [each[0] for each in ends] == [0.01, 0.1, 0.2, 0.4, 1.0, 0.3]
    assert class_boxes(figures[:0]).layout.annotations[0].text == "there are no triples"


def test_partials():
    rows = [
        ("spearman", "none", 0.5, 0.4, 0.6),
        ("spearman", "degree", 0.1, -0.1, 0.2),
        ("pearson", "none", -0.3, -0.4, -0.2),
        ("pearson", "degree", np.nan, np.nan, np.nan),
    ]
    table = pd.DataFrame(rows, columns=["coefficient", "controls", "value", "low", "high"])
    table = table.assign(p_holm=[0.01, 0.01, 0.05, np.nan], rows=30)
    figure = partial_forest(table)
    spearman, pearson = figure.data
    assert (list(spearman.x), list(pearson.x)) == ([0.5, 0.1], [-0.3])
    assert list(spearman.marker.symbol) == ["circle", "circle-open"]
    assert list(pearson.marker.symbol) == ["circle"]
    assert list(figure.layout.yaxis.ticktext) == ["plain", "without degree"]
    per_task = partial_forest(table.assign(task="tail_mrr"))
    assert list(per_task.layout.yaxis.ticktext) == ["tail: plain", "tail: without degree"]
    assert (
        "nothing is left" in partial_forest(table.assign(value=np.nan)).layout.annotations[0].text
    )
