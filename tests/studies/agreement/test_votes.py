"""Votes and overlap of lists, in fractions and sets."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.studies.agreement.top_answers import TopAnswers
from kgdash.studies.agreement.votes import Ballots, halves

ENTITIES = 5


@st.composite
def elections(draw):
    """Draw, by some runs, a rank or none of each candidate of each query; some are equal."""
    queries, runs = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    rank = st.sampled_from([None, 1.0, 1.5, 2.0, 3.0, 7.5])
    ranks = [
        [draw(st.lists(rank, min_size=ENTITIES, max_size=ENTITIES)) for _ in range(queries)]
        for _ in range(runs)
    ]
    answers = [draw(st.integers(0, ENTITIES - 1)) for _ in range(queries)]
    return ranks, answers


def as_lists(ranks):
    lists = []
    for of_run in ranks:
        rows = [
            (query, entity, rank)
            for query, given_ranks in enumerate(of_run)
            for entity, rank in enumerate(given_ranks)
            if rank is not None
        ]
        owner, entity, rank = zip(*rows, strict=True) if rows else ((), (), ())
        lists.append(TopAnswers(np.array(owner, int), np.array(entity, int), np.array(rank, float)))
    return lists


def vote(ranks, runs, query, answer):
    """Rank an answer by sums of reciprocal ranks."""
    points = [
        sum(1 / Fraction(ranks[run][query][e]) for run in runs if ranks[run][query][e] is not None)
        for e in range(ENTITIES)
    ]
    own = points[answer]
    if not own:
        return np.inf
    return 1 + sum(p > own for p in points) + (sum(p == own for p in points) - 1) / 2


@given(elections(), st.integers(1, 3))
def test_by_definition(election, k):
    ranks, answers = election
    runs = range(len(ranks))
    ballots = Ballots(as_lists(ranks), np.array(answers), ENTITIES)
    found = ballots.vote_rank(tuple(runs))
    assert found.tolist() == [vote(ranks, runs, q, a) for q, a in enumerate(answers)]
    overlap, conflict = ballots.overlap(k), ballots.vote_conflict(k)
    for query, answer in enumerate(answers):
        tops = [{e for e, r in enumerate(ranks[run][query]) if r and r <= k} for run in runs]
        pairs = [(a, b) for a, b in combinations(tops, 2) if a | b]
        if pairs:
            mean = sum(len(a & b) / len(a | b) for a, b in pairs) / len(pairs)
            assert overlap[query] == pytest.approx(mean)
        else:
            assert np.isnan(overlap[query])
        if len(ranks) < 4:
            assert np.isnan(conflict[query])
            continue
        half = len(ranks) // 2
        ways = [(a, b) for a, b in combinations(combinations(runs, half), 2) if not set(a) & set(b)]
        differ = [
            (vote(ranks, a, query, answer) <= k) != (vote(ranks, b, query, answer) <= k)
            for a, b in ways
        ]
        assert conflict[query] == pytest.approx(sum(differ) / len(differ))


@pytest.mark.parametrize(("runs", "ways"), [(2, 1), (4, 3), (5, 15), (6, 10), (7, 70), (8, 35)])
def test_halves(runs, ways):
    found = halves(runs)
    assert len(found) == ways
    assert all(len(a) == len(b) == runs // 2 and not set(a) & set(b) for a, b in found)
