"""Triple classification: against scikit-learn, and scorers that know all or nothing."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from kgdash.errors import KgdashError
from kgdash.studies.classification.calibration import (
    calibrated,
    calibration_error,
    calibration_tables,
    fit_calibrations,
    reliability_bins,
)
from kgdash.studies.classification.classification import ClassificationSetting, classify
from kgdash.studies.classification.curves import precision_recall_curve, roc_curve, score_histogram
from kgdash.studies.classification.given_negatives import GivenNegatives
from kgdash.studies.classification.scores import (
    METRICS,
    metric_intervals,
    metric_values,
    weighted_metrics,
)
from kgdash.studies.classification.thresholds import best_threshold
from tests.support.fakes import INF, FakeScorer, fake_run, make_graph, random_scorer

IDS = ["head", "relation", "tail"]
GIVEN = ClassificationSetting("given")


@pytest.fixture(scope="module")
def of_umls(umls):
    return classify(umls)


def sklearn_metrics(table, weights=None):
    label, called, score = (table[c].to_numpy() for c in ("label", "predicted", "score"))
    options = {"sample_weight": weights}
    both = {**options, "zero_division": np.nan}
    return {
        "accuracy": metrics.accuracy_score(label, called, **options),
        "precision": metrics.precision_score(label, called, **both),
        "recall": metrics.recall_score(label, called, **both),
        "f1": metrics.f1_score(label, called, **both),
        "roc_auc": metrics.roc_auc_score(label, score, **options),
        "pr_auc": metrics.average_precision_score(label, score, **options),
    }


def judged(rows, threshold=0.5):
    table = pd.DataFrame(rows, columns=["label", "score"])
    return table.assign(predicted=table["score"] >= threshold)


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([-1.0, 0.0, 0.5, 0.7, 2.0])), max_size=12),
    st.integers(0, 99),
)
def test_metrics_are_scikit_learn_s(rows, seed):
    table = judged([(True, 0.7), (False, 0.5), *rows])
    assert metric_values(table) == pytest.approx(sklearn_metrics(table), nan_ok=True)
    weights = np.random.default_rng(seed).integers(0, 4, size=(3, len(table))).astype(float)
    weights[:, :2] += 1
    found = weighted_metrics(table, weights)
    for number, row in enumerate(weights):
        expected = sklearn_metrics(table, row)
        assert {name: values[number] for name, values in found.items()} == pytest.approx(
            expected, nan_ok=True
        )


def test_metrics_that_are_not_defined():
    nothing_called = metric_values(judged([(True, 0.1), (False, 0.2)]))
    assert np.isnan(nothing_called["precision"])
    assert nothing_called["recall"] == 0
    one_label = judged([(True, 0.9), (True, INF), (True, -INF)])
    assert {name for name, value in metric_values(one_label).items() if np.isnan(value)} == {
        "roc_auc",
        "pr_auc",
    }
    assert all(np.isnan(end).all() for end in metric_intervals(one_label, False).values())
    assert metric_values(judged([(True, INF), (False, -INF)]))["roc_auc"] == 1


def test_intervals_draw_a_triple_with_its_corruption():
    """Of 40 pairs half are judged wholly right and half wholly wrong, or one of each."""
    label = np.repeat([True, False], 40)
    wrong = np.tile(np.arange(40) < 20, 2)
    table = pd.DataFrame(
        {"label": label, "score": (label ^ wrong) * 1.0, "predicted": label ^ wrong}
    )
    low, high = metric_intervals(table, True, seed=1)["accuracy"]
    # Per pair the standard deviation is 0.5, of 40 pairs 0.5 / √40.
    assert [low, high] == pytest.approx([0.5 - 0.155, 0.5 + 0.155], abs=0.03)
    apart = metric_intervals(table, False, seed=1)["accuracy"]
    assert apart[1] - apart[0] == pytest.approx((high - low) / np.sqrt(2), rel=0.12)
    assert metric_intervals(table, True, level=0.5, seed=1)["accuracy"][1] < high


@pytest.fixture(scope="module")
def of_relations(umls):
    return classify(umls, ClassificationSetting("relation", "relation", seed=2))


@pytest.mark.parametrize("thresholds", ["global", "relation"])
def test_test_is_judged_by_thresholds_of_validation(umls, of_umls, of_relations, thresholds):
    found = of_umls if thresholds == "global" else of_relations
    assert found.setting.thresholds == thresholds
    for table in (found.valid, found.test):
        scores = umls.scorer.score_triples(torch.tensor(table[IDS].to_numpy()))
        assert table["score"].tolist() == scores.tolist()
        assert table["label"].sum() * 2 == len(table)
    valid, test = found.valid, found.test
    for relation, rows in test.groupby("relation"):
        fitted_on = valid[valid["relation"] == relation] if thresholds == "relation" else valid
        fitted_on = fitted_on if len(fitted_on) else valid
        threshold = best_threshold(fitted_on["score"].to_numpy(), fitted_on["label"].to_numpy())
        assert (rows["predicted"] == (rows["score"] >= threshold)).all()
    assert found.metrics.set_index("figure")["value"].to_dict() == pytest.approx(
        sklearn_metrics(test)
    )
    assert found.metrics.set_index("figure")["validation"].to_dict() == pytest.approx(
        sklearn_metrics(valid)
    )
    assert (found.metrics["low"] < found.metrics["value"]).all()
    assert (found.metrics["value"] < found.metrics["high"]).all()


def test_relations(of_relations):
    found = of_relations
    table, test = found.relations, found.test
    assert table["true"].is_monotonic_decreasing
    assert set(table["relation"]) == set(test["relation"])
    for row in table.to_dict("records"):
        part = test[test["relation"] == row["relation"]]
        if 0 < part["label"].sum() < len(part):
            expected = sklearn_metrics(part)
            assert {name: row[name] for name in METRICS} == pytest.approx(expected, nan_ok=True)
        counts = metrics.confusion_matrix(part["label"], part["predicted"], labels=[False, True])
        names = ("true_negative", "false_positive", "false_negative", "true_positive")
        assert [row[name] for name in names] == counts.ravel().tolist()
        assert row["threshold"] == found.fitted.per_relation[row["relation"]]
        assert row["majority"] == 0.5
    about = found.about()
    shown = table["own_threshold"].sum()
    assert about["relations_with_own_threshold"] == shown
    assert about["relations_with_global_threshold"] == len(table) - shown
    assert sum(about["confusion"].values()) == len(test)


def test_curves_and_histogram(of_umls):
    found = of_umls
    roc, pr, bins = (
        make(found.test) for make in (roc_curve, precision_recall_curve, score_histogram)
    )
    label, score = found.test["label"].to_numpy(), found.test["score"].to_numpy()
    for row in roc.to_dict("records"):
        called = score >= row["threshold"]
        assert row["true_positive_rate"] == pytest.approx(called[label].mean())
        assert row["false_positive_rate"] == pytest.approx(called[~label].mean())
    values = found.metrics.set_index("figure")["value"]
    area = np.trapezoid(roc["true_positive_rate"], roc["false_positive_rate"])
    assert area == pytest.approx(values["roc_auc"])
    for row in pr[:-1].iloc[::50].to_dict("records"):
        called = score >= row["threshold"]
        assert row["precision"] == pytest.approx(label[called].mean())
        assert row["recall"] == pytest.approx(called[label].mean())
    assert bins[["true", "false"]].sum().tolist() == [label.sum(), (~label).sum()]
    for row in bins[:-1].iloc[::9].itertuples():
        inside = (score >= row.left) & (score < row.right)
        assert [row.true, row.false] == [(inside & label).sum(), (inside & ~label).sum()]


def test_calibration_is_fit_on_validation_and_tried_on_test(of_umls):
    found = of_umls
    score, label = (found.valid[column].to_numpy() for column in ("score", "label"))
    test = found.test["score"].to_numpy()
    probabilities = calibrated(found.valid, found.test)
    bins, errors = calibration_tables(probabilities, found.test["label"])
    for name, function in fit_calibrations(score, label).items():
        expected = function(test)
        assert probabilities[name].tolist() == pytest.approx(expected.tolist())
        own = bins[bins["calibration"] == name].drop(columns="calibration").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, reliability_bins(expected, found.test["label"]))
        error = errors.set_index("calibration").loc[name]
        assert error["brier_score"] == metrics.brier_score_loss(found.test["label"], expected)
        assert error["expected_calibration_error"] == calibration_error(own)
    assert errors.set_index("calibration")["brier_score"].idxmin() != "none"


def test_scorers_that_know_all_and_nothing(umls):
    graph = umls.graph
    shape = (graph.num_entities, graph.num_relations, graph.num_entities)
    truth = torch.zeros(shape)
    truth[tuple(torch.from_numpy(graph.all_triples).T)] = 1.0
    perfect = classify(fake_run(graph, FakeScorer(truth)))
    assert (perfect.metrics[["value", "validation"]] == 1).all(axis=None)
    assert perfect.metrics[["low", "high"]].isna().all(axis=None), "resampling shows nothing"
    assert perfect.fitted.overall == 0.5
    chance = classify(fake_run(graph, random_scorer(*shape[:2]))).metrics.set_index("figure")
    error = 0.5 / np.sqrt(2 * len(graph.splits["test"]))
    assert chance.loc["accuracy", "value"] == pytest.approx(0.5, abs=4 * error)
    assert chance.loc["roc_auc", "value"] == pytest.approx(0.5, abs=5 * error)


def test_given_negatives_need_not_be_balanced(umls):
    rng = np.random.default_rng(0)
    sizes = [umls.graph.num_entities, umls.graph.num_relations, umls.graph.num_entities]
    drawn = np.unique(rng.integers(0, sizes, size=(400, 3)), axis=0)
    false = drawn[~umls.graph.known().contains(drawn)]
    given = GivenNegatives(false[:100], false[100:], ("a note",))
    found = classify(umls, GIVEN, given)
    assert found.notes == ("a note",)
    for table, expected in ((found.valid, false[:100]), (found.test, false[100:])):
        assert (table[IDS].to_numpy()[~table["label"]] == expected).all()
    assert found.about()["test"] == {"true": 661, "false": len(false) - 100}
    assert found.metrics.set_index("figure")["value"].to_dict() == pytest.approx(
        sklearn_metrics(found.test)
    )
    largest = found.relations[["true", "false"]].max(axis=1)
    assert found.about()["majority_per_relation"] == largest.sum() / len(found.test)


def test_stored_tables_are_those_of_the_same_question(monkeypatch):
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", 0.0)
    rows = np.unique(np.random.default_rng(0).integers(0, [9, 2, 9], size=(200, 3)), axis=0)
    graph = make_graph(rows[:20], rows[20:40], rows[40:60])
    run = fake_run(graph, random_scorer(9, 2))
    first = classify(run)
    others = [
        classify(run, ClassificationSetting(seed=1)),
        classify(run, ClassificationSetting(thresholds="relation")),
        classify(run),
    ]
    others.append(classify(fake_run(graph, random_scorer(9, 2, seed=1))))
    for other, same in zip(others, (False, False, True, False), strict=True):
        assert other.metrics.equals(first.metrics) == same
    assert (
        classify(run, ClassificationSetting(level=0.5)).metrics["high"] <= first.metrics["high"]
    ).all()
    given = [GivenNegatives(rows[60:70], rows[70:end]) for end in (78, 80)]
    one, other = (classify(run, GIVEN, each).about()["test"] for each in given)
    assert one["false"] + 2 == other["false"]


def test_refusals(umls):
    with pytest.raises(KgdashError, match="unknown kind of negatives 'hard'"):
        ClassificationSetting("hard")
    with pytest.raises(KgdashError, match="unknown kind of thresholds 'local'"):
        ClassificationSetting(thresholds="local")
    with pytest.raises(KgdashError, match="level between 0 and 1; found 95"):
        ClassificationSetting(level=95)
    with pytest.raises(KgdashError, match="names no dataset folder with the files valid_negatives"):
        classify(umls, GIVEN)
    bare = make_graph([(0, 0, 1), (1, 0, 2)], test=[(0, 0, 2)])
    with pytest.raises(KgdashError, match="split 'valid' of graph tiny holds no triples"):
        classify(fake_run(bare, random_scorer(3, 1)))
    lost = FakeScorer(torch.full((3, 1, 3), float("nan")))
    whole = make_graph([(0, 0, 1), (1, 0, 2)], valid=[(0, 0, 2)], test=[(2, 0, 0)])
    with pytest.raises(KgdashError, match="the model gives NaN"):
        classify(fake_run(whole, lost))
