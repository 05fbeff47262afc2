"""Nonconformities and the sizes of sets, by their definitions on every candidate."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.studies.probability.answer_queries import answer_queries
from kgdash.studies.probability.answer_scores import (
    SCORES,
    Candidates,
    answer_scores,
    place_in_queries,
)
from kgdash.studies.probability.calibration import fit_calibration
from tests.support import brute_force
from tests.support.fakes import INF, FakeScorer, fake_run, make_graph

BETA = 0.9


def by_definition(scores, score: str, beta: float = BETA) -> list[float]:
    """Return the nonconformity of each candidate, in the order of ``scores``."""
    weight = [np.exp(beta * (s - max(scores))) for s in scores]
    p = [w / sum(weight) for w in weight]
    found = []
    for s, own in zip(scores, p, strict=True):
        if score == "rank":
            greater, equal = sum(o > s for o in scores), sum(o == s for o in scores) - 1
            found.append(greater + equal / 2 + 1)
        elif score == "softmax":
            found.append(-np.log(own))
        else:
            found.append(sum(q for o, q in zip(scores, p, strict=True) if o >= s))
    return found


@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0]), min_size=1, max_size=9),
    st.sampled_from([0.0, 1.5, 3.0]),
    st.sampled_from(list(SCORES)),
    st.floats(0.05, 9.5),
)
def test_sizes_by_definition(rivals, own, score, most):
    found = Candidates.of(np.array([*rivals, np.nan]), own, BETA)
    theirs = by_definition([*rivals, own], score)
    if score == "adaptive":
        most = min(most / 9, 0.999999)
    if min(abs(value - most) for value in theirs) < 1e-9:
        return  # rounding decides
    assert found.size(score, most) == sum(value <= most for value in theirs)
    assert found.size(score, np.inf) == len(rivals) + 1
    assert found.adaptive(own) == pytest.approx(by_definition([*rivals, own], "adaptive")[-1])


def test_on_a_bundled_run(bundled):
    run = bundled("umls-complex")
    fitted = fit_calibration(run)
    triples = run.graph.split("test")[::60]
    table = answer_scores(run, fitted, triples, "train+valid+test")
    ranks = run.ranks(triples=triples)
    np.testing.assert_array_equal(table["rank"], ranks["realistic"])
    known = {tuple(t) for t in run.graph.all_triples.tolist()}
    limits = [("rank", 3.0), ("softmax", 3.0), ("adaptive", 0.9)]
    for queries in answer_queries(run, triples, "train+valid+test"):
        beta = fitted.beta_of(queries)
        allowed = [(score, np.full(len(triples), most)) for score, most in limits]
        strange, sizes = place_in_queries(queries, fitted, allowed)
        own = table[table["side"] == queries.side].reset_index(drop=True)
        np.testing.assert_array_equal(own[list(SCORES)], strange)
        for i, triple in enumerate(map(tuple, triples.tolist())):
            rivals = [
                c
                for c in brute_force.candidates(triple, queries.side, 135, 46)
                if c == triple or c not in known
            ]
            s = run.scorer.score_triples(torch.tensor(rivals), queries.side).double().numpy()
            theirs = np.array([by_definition(s, score, beta[i]) for score in SCORES]).T
            np.testing.assert_allclose(strange[i], theirs[rivals.index(triple)], rtol=1e-4)
            most = np.array([most for _, most in limits])
            near = (np.abs(theirs - most) < 1e-4).sum(axis=0)  # there rounding decides
            assert (abs(sizes[i] - (theirs <= most).sum(axis=0)) <= near).all()


def test_infinite_scores_are_refused():
    run = small_run(INF)
    fitted = fit_calibration(small_run())
    with pytest.raises(KgdashError, match="infinite scores"):
        answer_scores(run, fitted, run.graph.split("test"), "none")


def small_run(one: float = 0.0):
    """Make a run of four entities; one score may be told."""
    values = torch.zeros(4, 1, 4) + torch.arange(4.0)
    values[1, 0, 3] = one
    graph = make_graph([(0, 0, 1)], [(1, 0, 2), (2, 0, 3)], [(1, 0, 0)], entities=4)
    return fake_run(graph, FakeScorer(values))
