"""Nonconformities and the sizes of sets, by their definitions on every candidate."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kgdash.studies.probability.answer_queries import answer_queries
from kgdash.studies.probability.answer_scores import SCORES, Candidates, answer_scores, set_sizes
from kgdash.studies.probability.calibration import fit_calibration
from tests.support import brute_force

BETA = 0.9


def by_definition(scores, score: str) -> list[float]:
    """Return the nonconformity of each candidate, in the order of ``scores``."""
    weight = [np.exp(BETA * (s - max(scores))) for s in scores]
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
    known = {tuple(t) for t in run.graph.all_triples.tolist()}
    for queries in answer_queries(run, triples, "train+valid+test"):
        beta = fitted.beta_of(queries)
        sizes = set_sizes(queries, fitted, "softmax", np.full(len(triples), 3.0))
        own = table[table["side"] == queries.side].reset_index(drop=True)
        for i, triple in enumerate(map(tuple, triples.tolist())):
            rivals = [
                c
                for c in brute_force.candidates(triple, queries.side, 135, 46)
                if c == triple or c not in known
            ]
            s = run.scorer.score_triples(torch.tensor(rivals), queries.side).double().numpy()
            true = rivals.index(triple)
            log_p = beta[i] * (s - s.max())
            log_p -= np.log(np.exp(log_p).sum())
            assert own["softmax"][i] == pytest.approx(-log_p[true], rel=1e-4)
            above = np.exp(log_p[s >= s[true]]).sum()
            assert own["adaptive"][i] == pytest.approx(above, rel=1e-3)
            assert abs(sizes[i] - (-log_p <= 3.0).sum()) <= 1
            assert own["rank"][i] == 1 + (s > s[true]).sum() + ((s == s[true]).sum() - 1) / 2
