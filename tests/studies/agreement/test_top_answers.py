"""First candidates by rank, against ranks of each candidate by the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.studies.agreement.top_answers import top_answers
from kgdash.studies.probability.answer_queries import answer_queries
from tests.support import brute_force
from tests.support.fakes import FakeScorer, array, fake_run, make_graph, worlds


def by_definition(score, triple, side, known, sizes, most):
    """Rank every candidate as if it were one more rival of the others."""
    at = 0 if side == "head" else 2
    left = [
        other
        for other in brute_force.candidates(triple, side, *sizes)
        if other == triple or other not in known
    ]
    found = {}
    for own in left:
        values = [score(*other, side) for other in left if other != own]
        mine = score(*own, side)
        rank = 1 + sum(v > mine for v in values) + sum(v == mine for v in values) / 2
        if rank <= most:
            found[own[at]] = rank
    return found


@given(worlds(max_entities=6), st.integers(1, 4))
def test_by_definition(world, most):
    scorer, parts, evaluated = world
    sizes = scorer.num_entities, scorer.num_relations
    graph = make_graph(*parts[:3], *sizes)
    run = fake_run(graph, scorer)
    triples = array(evaluated)
    known = {tuple(t) for part in parts for t in part} | {tuple(t) for t in evaluated}
    for queries in answer_queries(run, triples, "train+valid+test"):
        found = top_answers(queries, most)
        for i, triple in enumerate(evaluated):
            mine = found.owner == i
            named = dict(zip(found.entity[mine].tolist(), found.rank[mine].tolist(), strict=True))
            expected = by_definition(scorer, triple, queries.side, known, sizes, most)
            assert named == expected
            assert (np.diff(found.rank[mine]) >= 0).all()


@pytest.mark.parametrize("ties", [1, 3, 4, 19])
def test_those_that_tie_are_in_together_or_out(ties):
    """Behind two that are apart, the others' rank is the middle of their places."""
    scores = np.full((30, 1, 30), -1.0)
    scores[0, 0, : 2 + ties] = [9, 8] + [0] * ties
    run = fake_run(make_graph([(29, 0, 29)], entities=30), FakeScorer(scores))
    (tails,) = answer_queries(run, array([(0, 0, 0)]), "none", ["tail"])
    middle = 2 + (ties + 1) / 2
    expected = [1, 2] + [middle] * ties * (middle <= 4)
    assert top_answers(tails, 4).rank.tolist() == expected
