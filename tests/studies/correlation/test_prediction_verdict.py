"""The verdict on a prediction of performance is no stronger than R² and the coverage's interval."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kgdash.studies.correlation.prediction_verdict import checked_scheme, prediction_verdict


def checked(r2: float, low: float, high: float, disjoint: int = 40) -> SimpleNamespace:
    """Return what the verdict reads of a prediction; the other scheme has other values."""
    errors = pd.DataFrame(
        [
            ("overlapping", "linear", 100, 0.3, 0.5),
            ("overlapping", "mean", 100, 0.4, 0.0),
            ("disjoint", "linear", disjoint, 0.126, r2),
            ("disjoint", "mean", disjoint, 0.125, 0.0),
        ],
        columns=["scheme", "curve", "subgraphs", "mae", "r2"],
    )
    coverage = pd.DataFrame(
        [("overlapping", 0.9, 0.9, 0.8, 0.95), ("disjoint", 0.9, (low + high) / 2, low, high)],
        columns=["scheme", "level", "covered", "covered_low", "covered_high"],
    )
    return SimpleNamespace(level=0.9, errors=errors, coverage=coverage)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((-0.02, 0.84, 0.96), "**ReliK does not tell what tail MRR to expect here** better than"),
        ((0.0, 0.84, 0.96), "does not tell"),
        ((0.05, 0.84, 0.96), "**ReliK hardly tells what tail MRR to expect here**: R² 0.0500"),
        (
            (0.1, 0.84, 0.96),
            "**ReliK tells some of what tail MRR to expect**: R² 0.100, mean",
        ),
        ((0.3, 0.84, 0.96), "error 0.126 against 0.125 by the mean, on subgraphs"),
        ((0.3, 0.84, 0.96), "Intervals of 90% held for 90.0% of these (84.0% to 96.0%), as promi"),
        ((0.3, 0.70, 0.88), "less often than promised."),
        ((0.3, 0.92, 0.98), "more often than promised."),
        ((0.3, 0.92, 0.98, 9), "R² 0.500, mean error 0.300 against 0.400 by the mean"),
    ],
)
def test_words(values, words):
    assert words in prediction_verdict(checked(*values), "tail MRR")


def test_nothing_is_said_where_nothing_could_be_checked():
    assert prediction_verdict(checked(np.nan, np.nan, np.nan), "tail MRR") == ""


def test_ten_disjoint_subgraphs_are_enough():
    assert checked_scheme(checked(0.1, 0.8, 0.9, 10)) == "disjoint"
    assert checked_scheme(checked(0.1, 0.8, 0.9, 9)) == "overlapping"


def test_of_subgraphs_that_overlap_nothing_is_claimed():
    """Their triples leak: ReliK dealt among relations "tells some" in 23 of 60 of them."""
    said = prediction_verdict(checked(0.3, 0.84, 0.96, disjoint=9), "tail MRR")
    assert said.startswith("**Whether ReliK tells what tail MRR to expect, subgraphs that overlap")
