"""The verdict on separation follows its intervals."""

import math

import pandas as pd
import pytest

from kgdash.studies.instances.separation import Comparison
from kgdash.studies.instances.separation_verdict import separation_verdict


def comparison(relik, differences, groups=(), n=50):
    """Make a comparison; relik: (auc, low, high); differences: (low, high) by rank, by score."""

    def table(*rows):
        columns = ["group", "roc_auc", "auc_low", "auc_high", "n_true", "n_false"]
        return pd.DataFrame([(*row, n, n) for row in rows], columns=columns)

    rows = [("all", against, low, high) for against, (low, high) in differences.items()]
    return Comparison(
        {
            "relik": table(*groups, ("all", *relik)),
            **{measure: table(("all", 0.7, 0.6, 0.8)) for measure in differences},
        },
        pd.DataFrame(rows, columns=["group", "against", "low", "high"]),
    )


ALIKE = {"reciprocal_rank": (-0.1, 0.1), "score": (-0.1, 0.1)}


@pytest.mark.parametrize(
    ("relik", "words"),
    [
        ((0.66, 0.6, 0.7), "ReliK tells true from false: ROC-AUC 0.660 (0.600 to 0.700)"),
        ((0.55, 0.5, 0.6), "ReliK does not tell true from false beyond chance"),
        ((0.4, 0.3, 0.49), "ReliK points the wrong way: ROC-AUC 0.400"),
        ((0.9, math.nan, math.nan), "ReliK does not tell true from false beyond chance"),
    ],
)
def test_overall(relik, words):
    (said,) = separation_verdict(comparison(relik, ALIKE))
    assert said.startswith(words)
    assert said.endswith("like the reciprocal rank (0.700) and the raw score (0.700).")


def test_beside_the_other_measures():
    apart = {"reciprocal_rank": (0.01, 0.1), "score": (-0.2, -0.01)}
    (said,) = separation_verdict(comparison((0.66, 0.6, 0.7), apart))
    assert "better than the reciprocal rank (0.700), worse than the raw score (0.700)." in said


def test_groups_wholly_below_a_half():
    groups = [("3p", 0.41, 0.35, 0.48), ("2p", 0.45, 0.4, 0.5)]
    said = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, groups))
    assert said[1] == "It points the wrong way on 3p (0.410): the whole interval lies below 0.5."


def test_of_fewer_than_thirty_nothing_is_claimed():
    (said,) = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, n=14))
    assert said == (
        "ROC-AUC 0.660 (0.600 to 0.700) of 28 instances, too few to claim anything of them."
    )
