"""Rivals by number, degree and type, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from kgdash.studies.protocols.rivals import COUNTS, count_rivals
from tests.support.fakes import FakeScorer, fake_run, make_graph


@pytest.mark.parametrize("filter", ["train+valid+test", "none"])
def test_by_plain_loops(filter):
    random = np.random.default_rng(4)
    tails, heads = (random.choice([-1.0, 0.0, 0.5, 2.0], (7, 2, 7)) for _ in range(2))
    rows = np.unique(random.integers(0, [7, 2, 7], (30, 3)), axis=0)
    graph = make_graph(rows[::2], rows[1::4], rows[3::4], 7, 2)
    scorer = FakeScorer(tails, heads)
    found = count_rivals(fake_run(graph, scorer), filter=filter)
    train, test = ([tuple(t) for t in graph.splits[s].tolist()] for s in ("train", "test"))
    known = set() if filter == "none" else {tuple(t) for t in graph.all_triples.tolist()}
    degree = [sum((h == e) + (t == e) for h, _, t in train) for e in range(7)]
    expected = []
    for side, column in (("head", 0), ("tail", 2)):
        for h, r, t in test:
            own, counts = scorer(h, r, t, side), np.zeros((3, 3), dtype=int)
            for e in range(7):
                other = (e, r, t) if side == "head" else (h, r, e)
                if other == (h, r, t) or other in known:
                    continue
                typed = any(x[1] == r and x[column] == e for x in train)
                score = scorer(*other, side)
                each = np.array([1, degree[e], typed])
                counts += np.outer([score > own, score == own, 1], each)
            expected.append(counts.reshape(-1))
    np.testing.assert_array_equal(found[COUNTS].to_numpy(), expected)
    assert found["side"].tolist() == ["head"] * len(test) + ["tail"] * len(test)


def test_numbers_are_those_of_the_ranks(bundled):
    run = bundled("umls-conve")
    found, ranks = count_rivals(run), run.ranks()
    np.testing.assert_array_equal(found["rivals"] + 1, ranks["candidates"])
    np.testing.assert_array_equal(found["better"] + 1, ranks["optimistic"])
    np.testing.assert_array_equal(found["better"] + found["tied"] + 1, ranks["pessimistic"])
