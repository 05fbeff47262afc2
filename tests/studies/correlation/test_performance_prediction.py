"""Predicted performance: checked on subgraphs that it has not seen, and with planted overlap."""

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.correlation.performance_prediction import (
    predict_performance,
    predict_performance_of_run,
    predict_subgraphs,
    shared_triples,
)
from kgdash.studies.correlation.prediction_intervals import Sample, cv_plus, fit_line
from kgdash.studies.reliability.subgraph_table import (
    draw_subgraphs,
    score_subgraphs,
)
from tests.support.fakes import fake_run, make_graph, random_scorer


def figures(count=60, slope=0.15, seed=0, noise=0.03):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-4, -1, count)
    y = np.clip(0.85 + slope * x + rng.normal(size=count) * noise, 0, 1)
    return pd.DataFrame(
        {
            "seed_entity": np.arange(count),
            "evaluated": rng.integers(5, 40, count),
            "labelled": 10,
            "relik": 10**x,
            "tail_mrr": y,
            "accuracy": 1 - y,
        }
    )


def test_a_line_is_learnt_and_the_mean_is_no_better_than_itself():
    found = predict_performance(figures())
    errors = found.errors.set_index("curve")
    assert errors.loc["linear", "r2"] > 0.9
    assert errors.loc["linear", "rmse"] == pytest.approx(0.03, abs=0.01)
    assert errors.loc["mean", "r2"] == 0
    assert set(found.coverage["level"]) == {0.5, 0.8, 0.9, 0.95}
    assert set(found.errors["scheme"]) == {"overlapping"}
    rows = found.coverage.set_index("level")
    row = rows.loc[0.9]
    assert row["covered_low"] <= row["covered"] <= row["covered_high"]
    assert row["covered_low"] < 0.9 < row["covered_high"]
    assert rows.loc[0.5, "width"] < row["width"]


def test_points_and_errors_by_hand():
    """Predictions of the first repeat, from fits to the other folds; the errors of all three."""
    table = figures(30)
    table.loc[[3, 8], "tail_mrr"] = np.nan
    table.loc[5, "relik"] = np.nan
    found = predict_performance(table, seed=2, level=0.8)
    kept = [row for row in range(30) if row not in (3, 5, 8)]
    assert found.points["row"].tolist() == kept == found.rows.tolist()
    assert found.left_out == 3
    x, y = np.log10(table["relik"][kept].to_numpy()), table["tail_mrr"][kept].to_numpy()
    sample = Sample(x, y, table["evaluated"][kept].to_numpy(float))
    rng, predicted = np.random.default_rng(2), np.empty((3, 27))
    for repeat in range(3):
        fold = rng.permutation(27) % 10
        for number in range(10):
            out = fold == number
            learnt = sample.part(~out)
            predicted[repeat, out] = fit_line(learnt).curve(x[out])
            if not repeat:
                ends = cv_plus(learnt, x[out], sample.n[out], (0.8,), 2)[0]
                assert found.points.loc[out, ["low", "high"]].to_numpy() == pytest.approx(ends)
    assert found.points["predicted"].to_numpy() == pytest.approx(predicted[0])
    linear = found.errors.set_index("curve").loc["linear"]
    assert linear["mae"] == pytest.approx(np.abs(predicted - y).mean())
    assert linear["rmse"] == pytest.approx(np.sqrt(((predicted - y) ** 2).mean()))


def test_copies_leak_unless_disjoint():
    """Twins of wild values: learnt with the twin they are no surprise, without it they are."""
    rng = np.random.default_rng(5)
    table = figures(24, noise=0)
    table["tail_mrr"] = rng.random(24)
    table["relik"] = 10.0 ** np.repeat([-4.0, -2.0], 12)
    table.loc[:11, "tail_mrr"] *= 0.1
    doubled = pd.concat([table] * 2, ignore_index=True)
    # All rows of a value of ReliK share triples: disjoint, only the other half is learnt from.
    half = np.tile(np.repeat([0, 1], 12), 2)
    shared = (half[:, None] == half).astype(int)
    found = predict_performance(doubled, shared=shared)
    errors = found.errors.set_index(["scheme", "curve"])
    assert errors.loc[("overlapping", "linear"), "r2"] > 0.2
    assert (
        errors.loc[("disjoint", "linear"), "rmse"]
        > 1.3 * errors.loc[("overlapping", "linear"), "rmse"]
    )
    assert (found.points["scheme"] == "disjoint").all()
    nothing = predict_performance(doubled, shared=np.ones((48, 48), dtype=int))
    disjoint = nothing.errors[nothing.errors["scheme"] == "disjoint"]
    assert (disjoint["subgraphs"] == 0).all()
    assert disjoint[["mae", "rmse", "r2"]].isna().all(axis=None)
    assert (nothing.points["scheme"] == "overlapping").all()


def test_predicting_others():
    table = figures()
    found = predict_performance(table, level=0.8)
    rows = found.predict([1e-3, 1e-2], [10, 40])
    learnt = fit_line(found.sample)
    assert rows["predicted"].to_numpy() == pytest.approx(learnt.curve(np.array([-3.0, -2.0])))
    assert ((rows["low"] < rows["predicted"]) & (rows["predicted"] < rows["high"])).all()
    usual = np.median(table["evaluated"])
    pd.testing.assert_frame_equal(found.predict([0.01]), found.predict([0.01], [usual]))
    fewer = predict_performance(table.iloc[10:].reset_index(drop=True), level=0.8)
    pd.testing.assert_frame_equal(
        found.predict([0.01], [9], without=range(10)), fewer.predict([0.01], [9])
    )


def test_shared_triples(bundled):
    run = bundled("umls-distmult")
    parts = draw_subgraphs(run, SubgraphSampling(5, 20, seed=1))
    for evaluated in ("test", "all"):
        splits = ("test",) if evaluated == "test" else ("train", "valid", "test")
        sets = [{tuple(row) for row in part.triples(splits).tolist()} for part in parts]
        expected = [[len(a & b) for b in sets] for a in sets]
        assert shared_triples(parts, parts, evaluated).tolist() == expected


def test_of_a_run(bundled):
    run = bundled("umls-transe")
    sampling = SubgraphSampling(24, 9, seed=4)
    found, parts = predict_performance_of_run(run, "relation_mrr", sampling, level=0.7)
    table = score_subgraphs(run, draw_subgraphs(run, sampling))
    shared = shared_triples(parts, parts)
    expected = predict_performance(table, "relation_mrr", shared, 0.7, 4)
    for name in ("points", "errors", "coverage"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))


def test_what_to_expect(bundled):
    """One's own subgraph is not predicted from those that share its evaluated triples."""
    run = bundled("umls-transe")
    found, learnt = predict_performance_of_run(run, "tail_mrr", SubgraphSampling(30, 9))
    own = [learnt[int(row)] for row in found.rows[:3]]
    lonely = run.subgraph("virus", size=1)
    table = predict_subgraphs(run, found, learnt, [*own, lonely])
    figures = score_subgraphs(run, own)
    for row, part, theirs in zip(
        table.to_dict("records"), own, figures.to_dict("records"), strict=False
    ):
        sharing = np.flatnonzero(shared_triples([part], learnt)[0])
        assert len(sharing)
        assert row["disjoint"]
        assert row["observed"] == theirs["tail_mrr"]
        expected = found.predict([theirs["relik"]], [theirs["evaluated"]], sharing).iloc[0]
        leaking = found.predict([theirs["relik"]], [theirs["evaluated"]]).iloc[0]
        for name in ("relik", "predicted", "low", "high"):
            assert row[name] == expected[name]
        assert row["predicted"] != leaking["predicted"]
    alone = table.iloc[3]
    assert (alone["triples"], alone["evaluated"]) == (0, 0)
    assert alone[["relik", "predicted", "low", "high", "observed"]].isna().all()
    crowd = run.subgraph("virus", size=100)
    assert not predict_subgraphs(run, found, learnt, [crowd])["disjoint"].any()


def test_accuracy_has_its_own_number_of_triples():
    assert (predict_performance(figures(), "accuracy").points["evaluated"] == 10).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "mrr"}, "unknown task 'mrr'"),
        ({"level": 90}, "level between 0 and 1; found 90"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(KgdashError, match=message):
        predict_performance(figures(), **arguments)


def test_refused_numbers():
    with pytest.raises(KgdashError, match="too few subgraphs with a value of tail_mrr"):
        predict_performance(figures(19))
    found = predict_performance(figures(20))
    with pytest.raises(KgdashError, match="too few subgraphs"):
        found.predict([0.1], without=range(11))
    for wrong in ([0.0], [1.5], [np.nan]):
        with pytest.raises(KgdashError, match=r"expected ReliK in \(0, 1\]"):
            found.predict(wrong)
    with pytest.raises(KgdashError, match="at least 1 evaluated triple"):
        found.predict([0.1], [0])


def test_one_subgraph_that_is_drawn_again_and_again_counts_once():
    """A hundred subgraphs of thirty components were told as a hundred."""
    graph = make_graph(train=[(e, 0, e + 1) for e in range(0, 60, 2)])
    run = fake_run(graph, random_scorer(60, 1))
    with pytest.raises(KgdashError, match="subgraphs"):
        predict_performance_of_run(run, "both_mrr", SubgraphSampling(100, 60))
