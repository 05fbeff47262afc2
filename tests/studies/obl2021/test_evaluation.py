"""What ten best answers hit, by hand."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.obl2021.evaluation import TopTenScores, compare, evaluate, scores_table
from tests.support.fakes import array, make_graph


def test_worked_example():
    top = np.arange(10)[None].repeat(2, 0)
    found = evaluate(top, top, array([(0, 0, 4), (99, 0, 1)]))
    assert found.h10 == 3 / 4
    assert found.mrr10 == pytest.approx((1 + 1 / 5 + 1 / 2) / 4)
    assert found.head == TopTenScores(0.5, 0.5)
    assert found.tail == TopTenScores(1.0, pytest.approx((1 / 5 + 1 / 2) / 2))


def test_submissions_are_compared_by_mean_and_deviation():
    top = np.arange(10)[None]
    scores = [evaluate(top, top, array([(h, 0, 4)])) for h in (0, 99, 1)]
    table = compare(scores).set_index(["measure", "side"])
    assert table.loc[("h10", "both"), "mean"] == pytest.approx(5 / 6)
    assert table.loc[("h10", "head"), "standard_deviation"] == pytest.approx(np.sqrt(1 / 3))
    assert table.loc[("h10", "tail"), "standard_deviation"] == 0
    assert (table["submissions"] == 3).all()
    assert np.isnan(compare(scores[:1])["standard_deviation"]).all()
    listed = scores_table(["a", "b", "c"], scores)
    assert listed["h10"].tolist() == [1.0, 0.5, 1.0]
    assert listed["mrr10_tail"].tolist() == [0.2, 0.2, 0.2]


def test_wrong_shapes_are_refused():
    graph = make_graph([(0, 0, 1)], test=[(1, 0, 0)])
    top = np.zeros((1, 10), dtype=int)
    with pytest.raises(KgdashError, match=r"top10_tails: expected shape \(1, 10\)"):
        evaluate(top, top[:, :9], graph.splits["test"])
    with pytest.raises(KgdashError, match="no submissions"):
        compare([])
