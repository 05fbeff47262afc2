import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from kgdash.errors import KgdashError
from kgdash.studies.instances.thresholds import (
    RATES,
    best_of,
    judged_thresholds,
    plain_threshold,
    rates_at,
    threshold_curve,
)

SCIKIT = {
    "precision": precision_score,
    "recall": recall_score,
    "f1": f1_score,
    "accuracy": accuracy_score,
}

rows = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1e-6, 0.2, 0.5, 1.0])), min_size=1)


@given(rows, st.sampled_from([-np.inf, 0.0, 1e-7, 0.2, 0.3, 1.0, 2.0, np.inf]))
def test_rates_at_any_threshold_are_scikit_learn_s(rows, threshold):
    labels, values = (np.array(column) for column in zip(*rows, strict=True))
    found = rates_at(threshold_curve(labels, values), threshold)
    called = values >= threshold
    for name, rate in SCIKIT.items():
        extra = {} if name == "accuracy" else {"zero_division": np.nan}
        assert found[name] == pytest.approx(rate(labels, called, **extra), nan_ok=True)
    assert found["true_positive"] == (labels & called).sum()


@given(rows, st.sampled_from(["f1", "accuracy"]))
def test_no_threshold_is_better_than_the_best(rows, criterion):
    labels, values = (np.array(column) for column in zip(*rows, strict=True))
    curve = threshold_curve(labels, values)
    reached = rates_at(curve, best_of(curve, criterion))[criterion]
    assert reached == pytest.approx(curve[criterion].max(), nan_ok=True)


@given(
    rows,
    st.sampled_from(["f1", "accuracy"]),
    st.sampled_from([[0.0], [0.0, 0.1, 1.0], np.linspace(-1, 1, 50).tolist()]),
)
def test_a_plain_threshold_is_as_good_as_the_best(rows, criterion, places):
    """Of places of a slider the next one was up to 0.25 worse."""
    labels, values = (np.array(column) for column in zip(*rows, strict=True))
    curve = threshold_curve(labels, values)
    found = plain_threshold(curve, criterion, [*places, np.inf])
    best = rates_at(curve, best_of(curve, criterion))
    assert rates_at(curve, found).equals(best)


def test_the_best_threshold_of_neighbours_is_the_higher():
    """Their middle, rounded, lay at the lower one, or below."""
    curve = threshold_curve(np.array([False, True]), np.array([np.nextafter(1, 0), 1.0]))
    assert best_of(curve) == plain_threshold(curve, "f1", [0.0, np.inf]) == 1.0


def test_a_plain_threshold_has_few_digits():
    curve = threshold_curve(np.array([False, True, True]), np.array([0.8913, 0.9333, 0.95]))
    assert best_of(curve) == pytest.approx(0.91206, abs=1e-5)
    assert plain_threshold(curve, "f1", [0.0, 1.0, np.inf]) == 0.9
    assert plain_threshold(curve, "f1", [0.0, 0.92, 0.93, 1.0, np.inf]) == 0.93


def test_the_best_threshold_is_between_two_values():
    curve = threshold_curve(np.array([True, True, False]), np.array([1e-2, 1.0, 1e-4]))
    assert best_of(curve) == pytest.approx(1e-3)
    assert best_of(threshold_curve(np.array([True]), np.array([0.3]))) == -np.inf
    assert best_of(threshold_curve(np.array([False]), np.array([0.3])), "accuracy") == np.inf


def table(values, labels, group="x", questions=None):
    count = len(values)
    questions = np.arange(count).astype(str) if questions is None else questions
    return pd.DataFrame(
        {"group": group, "label": labels, "question": questions, "relik_max": values}
    )


def test_judged_on_the_half_that_did_not_choose():
    rng = np.random.default_rng(0)
    true, false = rng.normal(2, 1, 400), rng.normal(0, 1, 400)
    pairs = np.tile(np.arange(400).astype(str), 2)
    both = table(np.concatenate([true, false]), np.repeat([True, False], 400), questions=pairs)
    found = judged_thresholds(both).set_index("criterion")
    # For normal values of one spread the best accuracy is half-way: Φ(1) = 0.841.
    assert found.loc["accuracy", "threshold"] == pytest.approx(1, abs=0.35)
    assert found.loc["accuracy", "accuracy"] == pytest.approx(0.841, abs=0.04)
    assert found["n"].tolist() == found["chosen_on"].tolist() == [400, 400]


def test_what_is_learnt_from_noise_does_not_hold_on_the_other_half():
    rng = np.random.default_rng(1)
    reached, judged = [], []
    for seed in range(40):
        noise = table(rng.random(40), np.repeat([True, False], 20))
        row = judged_thresholds(noise, seed=seed).set_index("criterion").loc["accuracy"]
        reached.append(row["reached"])
        judged.append(row["accuracy"])
    assert np.mean(reached) > 0.6
    assert np.mean(judged) == pytest.approx(0.5, abs=0.05)


def test_one_group_or_too_little():
    both = pd.concat([table([0.1, 0.9] * 6, [False, True] * 6), table([0.2], [True], "y")])
    found = judged_thresholds(both, group="x")
    assert (found[list(RATES)] == 1).all().all()
    assert judged_thresholds(both, group="y").empty
    with pytest.raises(KgdashError, match="expected a group of the instances, or 'all'; found 'z'"):
        judged_thresholds(both, group="z")
    with pytest.raises(KgdashError, match="unknown criterion 'precision'"):
        best_of(threshold_curve(np.array([True]), np.array([0.3])), "precision")
