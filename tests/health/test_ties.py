"""Who ties with whom is what equal scores say."""

import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.health.spread import score_spread
from kgdash.health.ties import always_tied, tie_groups, tied_candidates
from tests.support.fakes import FakeScorer, array, random_scorer
from tests.support.small_health import NAN, SIDES, TEST, TRAIN, health_of


def test_groups_and_who_ties():
    scores = random_scorer(30, 2).tails.round()
    health = health_of(scores, filter="train+test")
    known = {*TRAIN, *TEST}
    table = health.tie_groups("tail", 7)
    ranks = health.ranks.query("side == 'tail'")
    gaps = (ranks["pessimistic"] - ranks["optimistic"]).sort_values(ascending=False)
    assert table["equal_scores"].tolist() == gaps.head(7).tolist()
    for side in SIDES:
        for row in health.tie_groups(side).itertuples():
            triple = (row.head, row.relation, row.tail)
            place = 2 if side == "tail" else 0
            expected = [
                e
                for e in range(30)
                if (other := (*triple[:place], e, *triple[place + 1 :])) not in known
                and scores[other] == scores[triple]
            ]
            found = health.tied_candidates(triple, side)
            assert found.tolist() == expected
            assert len(found) == row.equal_scores


def test_raw():
    scores = random_scorer(30, 2).tails.round()
    health = health_of(scores, filter="none")
    row = health.tie_groups("head", 1).iloc[0]
    found = health.tied_candidates((row["head"], row["relation"], row["tail"]), "head")
    assert len(found) == row["equal_scores"]


def test_a_nan_ties_with_nothing():
    scorer = FakeScorer(torch.full((4, 1, 4), NAN))
    assert not len(tied_candidates(scorer, (0, 0, 1), "tail", None))
    assert not len(always_tied(scorer, array([(0, 0, 1)])))


def test_zeros_of_both_signs_tie():
    scores = random_scorer(5, 1).tails
    scores[:, :, 2], scores[:, :, 3] = 0.0, -0.0
    found = always_tied(FakeScorer(scores), array([(0, 0, 1), (1, 0, 4)]), ["tail"])
    assert found["entity"].tolist() == [2, 3]


def test_without_ties():
    ranks = health_of(random_scorer(30, 2).tails).ranks
    assert not len(tie_groups(ranks))


def test_unknown_side():
    scorer = random_scorer(4, 1)
    with pytest.raises(KgdashError, match="expected side head or tail; found 'relation'"):
        tied_candidates(scorer, (0, 0, 1), "relation", None)
    with pytest.raises(KgdashError, match="unknown side 'relation'"):
        score_spread(scorer, array([(0, 0, 1)]), None, ["relation"])
