"""The verdict on separation follows its intervals."""

import math

import numpy as np
import pandas as pd
import pytest

from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.instances.separation import Comparison, compare_measures
from kgdash.studies.instances.separation_verdict import separation_verdict


def comparison(relik, differences, groups=(), n=50, chance=0.5):
    """Make a comparison; relik: (auc, low, high); differences: (low, high) by rank, by score."""

    def table(*rows):
        columns = ["group", "roc_auc", "auc_low", "auc_high", "p_holm", "n_true", "questions"]
        rows = pd.DataFrame([(*row, n, n) for row in rows], columns=columns)
        return rows.assign(auc_chance=chance)

    rows = [("all", against, low, high) for against, (low, high) in differences.items()]
    return Comparison(
        {
            "relik": table(*groups, ("all", *relik, math.nan)),
            **{measure: table(("all", 0.7, 0.6, 0.8, math.nan)) for measure in differences},
        },
        pd.DataFrame(rows, columns=["group", "against", "low", "high"]),
    )


ALIKE = {"reciprocal_rank": (-0.1, 0.1), "score": (-0.1, 0.1)}


@pytest.mark.parametrize(
    ("relik", "words"),
    [
        ((0.66, 0.6, 0.7), "ReliK tells true from false: ROC-AUC 0.660 (0.600 to 0.700)"),
        ((0.55, 0.5, 0.6), "Whether ReliK tells true from false is not told from chance: ROC-AUC"),
        ((0.4, 0.3, 0.49), "ReliK points the wrong way: ROC-AUC 0.400"),
        (
            (0.9, math.nan, math.nan),
            "Whether ReliK tells true from false is not told from chance: ROC-AUC",
        ),
    ],
)
def test_overall(relik, words):
    """Measures that are merely not told apart were called "like" one another."""
    (said,) = separation_verdict(comparison(relik, ALIKE))
    assert said.startswith(words)
    assert said.endswith(
        ", not told apart from the reciprocal rank (0.700) and the raw score (0.700)."
    )


@pytest.mark.parametrize(
    ("relik", "chance", "words"),
    [
        ((0.66, 0.6, 0.7), 0.59, "ReliK tells true from false: ROC-AUC 0.660"),
        ((0.59, 0.55, 0.64), 0.58, "Whether ReliK tells true from false is not told from chance"),
        # Groundings that share triples give less than 0.58: it is not the wrong way, either.
        ((0.54, 0.51, 0.57), 0.58, "Whether ReliK tells true from false is not told from chance"),
        ((0.4, 0.3, 0.49), 0.58, "ReliK points the wrong way: ROC-AUC 0.400"),
        ((0.47, 0.45, 0.49), 0.42, "Whether ReliK tells true from false is not told from chance"),
        ((0.4, 0.39, 0.41), 0.42, "ReliK points the wrong way: ROC-AUC 0.400"),
    ],
)
def test_what_the_number_of_groundings_gives_is_no_merit(relik, chance, words):
    """ReliK dealt out at random told true predictions of rules from false in 40 of 60 draws."""
    (said,) = separation_verdict(comparison(relik, ALIKE, chance=chance))
    assert said.startswith(words)
    assert said.endswith(f"; the number of groundings alone gives about {chance:.3f}.")


def test_a_group_is_wrong_only_below_a_half_and_what_its_groundings_give():
    groups = [("r", 0.41, 0.35, 0.48, 0.01)]
    said = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, groups, chance=0.45))
    assert len(said) == 1
    said = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, groups, chance=0.49))
    assert said[1].startswith("It points the wrong way on r (0.410)")


def test_more_groundings_of_true_ones_claim_nothing():
    """The greatest of 6 random values against that of 3 said so in all of 20 draws."""
    rng, claimed = np.random.default_rng(1), 0
    label = np.tile([True, False], 150)
    count = np.where(label, rng.integers(1, 11, 300), rng.integers(1, 6, 300))
    for _ in range(20):
        table = pd.DataFrame(
            {
                "group": "rule",
                "question": np.arange(300),
                "answer": np.arange(300),
                "label": label,
                "distinct": count,
                "relik_max": [rng.random(n).max() for n in count],
            }
        )
        found = compare_measures(table, ("relik",), bootstrap=Bootstrap(resamples=200))
        said = separation_verdict(found)
        claimed += len(said) > 1 or not said[0].startswith("Whether ReliK tells")
        assert found.overall("relik")["auc_low"] > 0.5
    assert claimed <= 2


def test_beside_the_other_measures():
    apart = {"reciprocal_rank": (0.01, 0.1), "score": (-0.2, -0.01)}
    (said,) = separation_verdict(comparison((0.66, 0.6, 0.7), apart))
    assert "better than the reciprocal rank (0.700), worse than the raw score (0.700)." in said


def test_few_of_many_groups_are_named():
    groups = [(f"rule {n}", 0.41, 0.35, 0.48, 0.01) for n in range(8)]
    said = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, groups))[1]
    assert "rule 4 (0.410) and 3 more: below 0.5" in said
    assert "rule 5" not in said


def test_groups_wholly_below_a_half():
    groups = [
        ("3p", 0.41, 0.35, 0.48, 0.01),
        ("2p", 0.45, 0.4, 0.5, 0.04),
        ("pi", 0.4, 0.3, 0.49, 0.06),
    ]
    said = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, groups))
    assert said[1].startswith("It points the wrong way on 3p (0.410): below 0.5 with the whole")


@pytest.mark.parametrize(("groups", "size"), [(20, 3), (20, 10), (9, 100)])
def test_of_groups_that_chance_made_none_is_named(groups, size):
    """One of twenty groups of six was named on 27 of 30 such screens, of nine of 200 on 5."""
    rng = np.random.default_rng(5)
    count = groups * size
    named = 0
    for _ in range(10):
        table = pd.DataFrame(
            {
                "group": np.repeat([f"g{i}" for i in range(groups)], 2 * size),
                "question": np.tile(np.repeat(np.arange(size), 2), groups),
                "answer": np.arange(2 * count),
                "label": np.tile([True, False], count),
                "distinct": 1,
                "relik_max": rng.random(2 * count),
            }
        )
        found = compare_measures(table, ("relik",), bootstrap=Bootstrap(resamples=200))
        named += len(separation_verdict(found)) > 1
    assert named <= 1


def test_of_fewer_than_thirty_nothing_is_claimed():
    (said,) = separation_verdict(comparison((0.66, 0.6, 0.7), ALIKE, n=28))
    assert said == (
        "ROC-AUC 0.660 (0.600 to 0.700) of 28 questions, too few to claim anything of them."
    )


@pytest.mark.parametrize("shared", ["question", "answer"])
def test_what_shares_triples_is_drawn_together(shared):
    """Twelve rules that predict the same told true from false at random in 55 of 300 draws.

    So did queries with answers in common.
    """
    rng = np.random.default_rng(2)
    count, claimed = 40, 0
    for _ in range(20):
        label, values = rng.random(count) < 0.5, rng.random(count)
        table = pd.DataFrame(
            {
                "group": np.repeat([f"rule {i}" for i in range(12)], count),
                "question": np.arange(12 * count),
                "answer": np.arange(12 * count),
                "label": np.tile(label, 12),
                "distinct": 1,
                "relik_max": np.tile(values, 12),
            }
        )
        table[shared] = np.tile(np.arange(count), 12)
        found = compare_measures(table, ("relik",), bootstrap=Bootstrap(resamples=200))
        assert found.overall("relik")["questions"] == table["question"].nunique()
        claimed += not separation_verdict(found)[0].startswith("Whether ReliK tells")
    assert claimed <= 3


def test_a_few_questions_of_many_instances_claim_nothing():
    table = pd.DataFrame(
        {
            "group": np.repeat([f"rule {i}" for i in range(20)], 5),
            "question": np.tile(np.arange(5), 20),
            "answer": np.tile(np.arange(5), 20),
            "label": np.tile([True, True, False, False, True], 20),
            "distinct": 1,
            "relik_max": np.tile([0.9, 0.8, 0.2, 0.1, 0.7], 20),
        }
    )
    found = compare_measures(table, ("relik",), bootstrap=Bootstrap(resamples=200))
    assert separation_verdict(found)[0].endswith(
        "of 5 questions, too few to claim anything of them."
    )
