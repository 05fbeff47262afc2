"""Figures of a search: what they draw is what the table says."""

import numpy as np
import pandas as pd
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from kgdash.charts.hyperparameter_search import best_so_far, importance_bars, parallel_coordinates
from kgdash.charts.message import message_of

PARAMETERS = {
    "model": CategoricalDistribution(["A<b>", "B"]),
    "optimizer.lr": FloatDistribution(0.001, 0.1, log=True),
    "A.embedding_dim": IntDistribution(16, 64, step=16),
    "loss.margin": IntDistribution(3, 3),
    "A.p": CategoricalDistribution([1, 2]),
    "B.p": IntDistribution(1, 3),
    "B.norm": CategoricalDistribution([0.5, "max"]),
}


def trials():
    return pd.DataFrame(
        {
            "trial": [0, 1, 2, 3, 4],
            "state": ["finished", "failed", "pruned", "finished", "running"],
            "value": [0.5, np.nan, 0.2, 0.7, np.nan],
            "best_so_far": [0.5, 0.5, 0.5, 0.7, 0.7],
            "epochs": pd.array([5, None, 2, 4, None], dtype="Int64"),
            "reason": ["", "diverged <here>", "", "", ""],
            "model": ["A<b>", "B", "B", "A<b>", "B"],
            "optimizer.lr": [0.1, 0.01, 0.01, 0.001, 0.1],
            "A.embedding_dim": [16, np.nan, np.nan, 64, np.nan],
            "loss.margin": [3, 3, 3, 3, 3],
            "A.p": [2.0, np.nan, np.nan, 1.0, np.nan],
            "B.p": [np.nan, 1, 1, np.nan, 3],
            "B.norm": [None, "max", "0.5", None, "max"],
        }
    )


def test_best_so_far():
    line, *points = best_so_far(trials()).data
    assert list(line.x) == [0, 1, 2, 3]
    assert list(line.y) == [0.5, 0.5, 0.5, 0.7]
    drawn = {trace.name: (list(trace.x), list(trace.y)) for trace in points}
    assert drawn == {
        "finished": ([0, 3], [0.5, 0.7]),
        "pruned": ([2], [0.2]),
        "failed": ([1], [0]),
    }
    assert "diverged &lt;here&gt;" in points[2].text[0]
    assert points[0].text[1] == "trial 3, finished<br>MRR on valid 0.700 after 4 epochs"
    assert not best_so_far(trials()[4:]).data


def test_of_many_trials_reasons_are_short():
    """10,000 reasons of 300 quotes sent 19 MB at each rerun."""
    many = pd.concat([trials().iloc[[1]]] * 5_000).assign(reason="'" * 2_000)
    texts = best_so_far(many).data[1].text
    assert len(texts) == 5_000
    assert sum(map(len, texts)) < 3 * 2**20


def test_parallel_coordinates():
    (lines,) = parallel_coordinates(trials(), PARAMETERS).data
    axes = {axis.label: axis for axis in lines.dimensions}
    assert list(axes) == [
        "model",
        "lr",
        "embedding dim",
        "margin",
        "A p",
        "B p",
        "norm",
        "MRR on valid",
    ]
    # Worst first, so that the best is drawn over the others; only trials with a value.
    assert list(axes["MRR on valid"]["values"]) == list(lines.line.color) == [0.2, 0.5, 0.7]
    assert list(axes["model"]["values"]) == [1, 0, 0]
    assert axes["model"].ticktext == ("A&lt;b&gt;", "B")
    np.testing.assert_allclose(axes["lr"]["values"], [-2, -1, -3])
    assert axes["lr"].range == (-3, -1)
    np.testing.assert_allclose(10 ** np.array(axes["lr"].tickvals)[[0, -1]], [0.001, 0.1])
    assert (axes["lr"].ticktext[0], axes["lr"].ticktext[-1]) == ("0.001", "0.1")
    dimension = axes["embedding dim"]
    nowhere = dimension["values"][0]
    assert nowhere < 16
    assert list(dimension["values"][1:]) == [16, 64]
    assert dimension.range[0] == nowhere == dimension.tickvals[0]
    assert dimension.ticktext[0] == "–"
    assert axes["margin"].range == (2.5, 3.5)
    assert list(axes["A p"]["values"][1:]) == [1, 0]
    assert axes["A p"]["values"][0] == axes["A p"].tickvals[0] < 0
    assert axes["norm"]["values"][0] == 0
    assert axes["norm"].ticktext == ("–", "0.5", "max")
    assert not parallel_coordinates(trials()[1:2], PARAMETERS).data


def test_of_equal_trials_the_first_that_finished_is_best():
    equal = trials().assign(value=[0.7, np.nan, 0.9, 0.7, np.nan])
    figure = parallel_coordinates(equal, PARAMETERS)
    assert list(figure.data[0].line.color) == [0.9, 0.7, 0.7]
    assert "The best: model A<b>, lr 0.1," in message_of(figure)


def test_importance():
    (bars,) = importance_bars(pd.Series({"a": 0.75, "<b>": 0.25})).data
    assert list(bars.y) == ["&lt;b&gt;", "a"]
    assert list(bars.x) == [0.25, 0.75]
    assert list(bars.text) == ["25%", "75%"]
    assert not importance_bars(pd.Series(dtype=float)).data
