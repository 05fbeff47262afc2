"""Candidates have the ranks of numbers.md#1-ranks, each one's own triple by the brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph import FILTERS
from kgdash.studies.inspection.candidates import SideCandidates, side_candidates
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from tests.support import brute_force
from tests.support.fakes import fake_run, make_graph, worlds

SIDES = {"head": 0, "relation": 1, "tail": 2}


def inspected(triple, side, is_open):
    parts = list(triple)
    if is_open:
        parts[SIDES[side]] = None
    return InspectedTriple(*parts)


@given(worlds(), st.sampled_from(list(SIDES)), st.sampled_from(list(FILTERS)), st.booleans())
def test_every_candidate_ranks_as_its_own_triple_does(world, side, filter, is_open):
    scorer, parts, evaluated = world
    size = scorer.num_entities, scorer.num_relations
    graph = make_graph(*parts, *size)
    splits = dict(zip(("train", "valid", "test"), map(set, parts), strict=True))
    triple, at = evaluated[0], SIDES[side]
    found = side_candidates(fake_run(graph, scorer), inspected(triple, side, is_open), side, filter)
    known = set().union(*(splits[name] for name in FILTERS[filter]))
    score = lambda *x: scorer(*x[:3], side="head" if side == "head" else "tail")  # noqa: E731
    rows = found.top(100).set_index("id")
    assert sorted(rows.index) == list(range(len(found.scores)))
    assert found.answer == (None if is_open else triple[at])
    for candidate in rows.index:
        own = (*triple[:at], candidate, *triple[at + 1 :])
        for raw, facts in ((False, known), (True, set())):
            expected = brute_force.ranks(score, own, side, facts, *size)
            rank = found.rank(candidate, raw)
            assert (rank.optimistic, rank.realistic, rank.pessimistic, rank.candidates) == expected
            column = "raw_rank" if raw else "filtered_rank"
            assert rows.loc[candidate, column] == expected[1]
        assert rows.loc[candidate, "score"] == score(*own)
        first = next((name for name, facts in splits.items() if own in facts), None)
        assert rows.loc[candidate, "known"] == first
        assert found.known_in(candidate) == first
        assert rows.loc[candidate, "answer"] == (not is_open and candidate == triple[at])


@given(worlds(), st.sampled_from(list(SIDES)), st.integers(1, 3))
def test_the_best_come_first_and_equal_ones_by_id(world, side, k):
    scorer, parts, evaluated = world
    run = fake_run(make_graph(*parts, scorer.num_entities, scorer.num_relations), scorer)
    found = side_candidates(run, InspectedTriple(*evaluated[0]), side, "none")
    expected = sorted(range(len(found.scores)), key=lambda i: (-found.scores[i], i))[:k]
    assert found.top(k)["id"].tolist() == expected


def by_hand(scores, split):
    split = np.array(split)
    return SideCandidates("tail", 0, np.array(scores, np.float32), split, split >= 0)


def test_histogram_counts_finite_scores_and_the_facts_among_them():
    found = by_hand([0, 0.5, 1, 2, 4, np.inf, -np.inf], [-1, 0, -1, 2, -1, 0, -1]).histogram(4)
    expected = pd.DataFrame(
        {
            "left": [0.0, 1, 2, 3],
            "right": [1.0, 2, 3, 4],
            "candidates": [2, 1, 1, 1],
            "known": [1, 0, 1, 0],
        }
    )
    pd.testing.assert_frame_equal(found, expected)


def test_no_finite_score_gives_no_bins():
    assert by_hand([np.inf, -np.inf], [-1, -1]).histogram().empty


@pytest.mark.parametrize("k", [0, 1, 99])
def test_k_is_bounded_by_what_there_is(k):
    assert len(by_hand([3, 1, 2], [-1, -1, 0]).top(k)) == min(k, 3)
