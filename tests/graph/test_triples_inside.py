"""Which triples lie in which subgraphs: all of them, in little memory, and their means."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import triples_inside as module
from kgdash.graph.subgraph import Subgraph
from kgdash.graph.triples_inside import triples_inside
from tests.support.fakes import make_graph

GRAPH = make_graph([(0, 0, 1), (1, 0, 2), (2, 0, 0), (3, 0, 3)])
TRIPLES = GRAPH.all_triples


def parts(*entities) -> list[Subgraph]:
    every = (np.array(each, dtype=np.int64) for each in entities)
    return [Subgraph(GRAPH, 0, each, "rwr", {}) for each in every]


some_parts = st.lists(st.lists(st.integers(0, 3), unique=True), max_size=6).map(
    lambda entities: parts(*entities)
)


def dense(subgraphs) -> np.ndarray:
    """Tell triple by triple, without any shortcut."""
    ends = TRIPLES[:, [0, 2]].tolist()
    return np.array([[set(pair) <= set(p.entities) for pair in ends] for p in subgraphs], float)


@given(subgraphs=some_parts, chosen=st.lists(st.booleans(), min_size=4, max_size=4))
def test_as_told_one_by_one(subgraphs, chosen):
    inside, expected = triples_inside(subgraphs, TRIPLES), dense(subgraphs).reshape(-1, 4)
    for found, there in (
        (inside, expected),
        (inside.of(np.array(chosen)), expected[:, chosen]),
    ):
        assert np.array_equal(found.matrix().toarray(), there)
        assert np.array_equal(found.counts, there.sum(axis=1))
        assert np.array_equal(found.anywhere, there.any(axis=0))


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_means_do_not_hang_on_how_many_are_summed_at_once(monkeypatch, at_once):
    subgraphs = parts([0, 1, 2], [3], [], [0, 1], [0, 1, 2, 3], [2])
    values = np.random.default_rng(0).random((4, 3))
    expected, inside = dense(subgraphs), triples_inside(subgraphs, TRIPLES)
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    with np.errstate(invalid="ignore"):
        means = (inside.matrix() @ values) / expected.sum(axis=1, keepdims=True)
    assert np.array_equal(inside.means(values), means, equal_nan=True)
    assert np.array_equal(inside.means(values[:, 1]), means[:, 1], equal_nan=True)
    assert np.isnan(means).all(axis=1).tolist() == [False, False, True, False, False, True]
    assert triples_inside([], TRIPLES).means(values).shape == (0, 3)


def test_few_bytes_of_each():
    """28 and more, with all that was copied: a run of 0.15 MB filled the server."""
    subgraphs = parts(*[[0, 1, 2]] * 200)
    triples = np.repeat(TRIPLES[:1], 20_000, axis=0)
    values = np.ones(len(triples))
    tracemalloc.start()
    inside = triples_inside(subgraphs, triples)
    chosen = inside.of(np.arange(len(triples)) % 2 == 0)
    assert inside.means(values).tolist() == [1.0] * 200
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert chosen.counts.tolist() == [10_000] * 200
    assert peak < 16 * len(inside.rows)


def test_more_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(module, "memory_budget", lambda: 5 * 64)
    subgraphs = parts([0, 1, 2], [0, 1], [3])
    assert len(triples_inside(subgraphs, TRIPLES).rows) == 5
    with pytest.raises(KgdashError, match=r"inside 3 subgraphs and more take more than"):
        triples_inside([*subgraphs[:2], *subgraphs[:1]], TRIPLES)
