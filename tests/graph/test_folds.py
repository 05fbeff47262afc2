"""Folds: disjoint, together all known triples, and nothing unseen in training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import SPLITS
from kgdash.graph.folds import cut_folds
from tests.support.fakes import make_graph

triples = st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 7))


def rows(array):
    return {tuple(row) for row in array.tolist()}


@st.composite
def graphs(draw):
    """Draw graphs whose every entity and relation is in a known triple."""
    known = sorted(draw(st.sets(triples, min_size=12, max_size=40)))
    entities = {e: i for i, e in enumerate(sorted({t[k] for t in known for k in (0, 2)}))}
    relations = {r: i for i, r in enumerate(sorted({t[1] for t in known}))}
    named = [(entities[h], relations[r], entities[t]) for h, r, t in known]
    cut = draw(st.integers(1, len(named)))
    return make_graph(named[:cut], test=named[cut:], entities=len(entities))


@settings(max_examples=40)
@given(graphs(), st.integers(2, 6), st.integers(0, 3))
def test_what_the_docstring_promises(graph, count, seed):
    try:
        folds = cut_folds(graph, count, seed)
    except KgdashError as error:
        assert "are needed in train" in str(error)  # noqa: PT017
        return
    assert [fold.number for fold in folds] == list(range(count))
    known, held_out = rows(graph.all_triples), []
    for fold in folds:
        splits = {split: rows(fold.graph.splits[split]) for split in SPLITS}
        assert sum(map(len, splits.values())) == len(known)
        assert set.union(*splits.values()) == known
        train = fold.graph.splits["train"]
        assert set(train[:, [0, 2]].ravel()) == set(range(graph.num_entities))
        assert set(train[:, 1]) == set(range(graph.num_relations))
        assert len(splits["test"]) - len(splits["valid"]) in (0, 1)
        held = splits["valid"] | splits["test"]
        assert len(held) + fold.kept in (len(known) // count, -(-len(known) // count))
        held_out += held
        assert (fold.graph.entities, fold.graph.relations) == (graph.entities, graph.relations)
    assert len(held_out) == len(set(held_out)) == len(known) - sum(f.kept for f in folds)


@settings(max_examples=30)
@given(graphs(), st.integers(0, 3))
def test_only_what_is_needed_stays(graph, seed):
    """By the definition, a triple at a time, with sets of names."""
    parts = np.array_split(np.random.default_rng(seed).permutation(graph.all_triples), 3)
    expected = []
    for number, part in enumerate(parts):
        train = [tuple(row) for i, other in enumerate(parts) if i != number for row in other]
        held = []
        for row in part.tolist():
            names = {("e", e) for h, _, t in train for e in (h, t)} | {
                ("r", r) for _, r, _ in train
            }
            needed = not {("e", row[0]), ("r", row[1]), ("e", row[2])} <= names
            (train if needed else held).append(tuple(row))
        expected.append((set(train), set(held[: len(held) // 2])))
        if not held:
            return
    folds = cut_folds(graph, 3, seed)
    found = [[rows(fold.graph.splits[s]) for s in ("train", "valid")] for fold in folds]
    assert [tuple(splits) for splits in found] == expected


def test_an_entity_with_one_triple_is_never_held_out():
    ring = [(i, 0, (i + 1) % 10) for i in range(10)] + [(i, 0, (i + 3) % 10) for i in range(10)]
    graph = make_graph([*ring, (0, 1, 10)])
    folds = cut_folds(graph, 4, seed=1)
    assert sum(fold.kept for fold in folds) == 1
    assert all((0, 1, 10) in rows(fold.graph.splits["train"]) for fold in folds)
    assert {len(fold.graph.splits["test"]) for fold in folds} <= {2, 3}


def test_seeds():
    graph = make_graph(np.argwhere(np.random.default_rng(0).random((9, 2, 9)) < 0.5))
    digests = [[fold.graph.digest for fold in cut_folds(graph, 5, seed)] for seed in (0, 0, 1)]
    assert digests[0] == digests[1] != digests[2]
    assert len(set(digests[0])) == 5


def test_five_folds_are_80_10_10(bundled):
    graph = bundled("umls-transe").graph
    for fold in cut_folds(graph, 5):
        shares = [len(fold.graph.splits[split]) / 6529 for split in SPLITS]
        assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.0005)
        # What the index of known triples says must be of this fold, not of the whole graph.
        test = fold.graph.splits["test"]
        assert not fold.graph.known(("train", "valid")).contains(test).any()


def test_the_own_split(bundled):
    graph = bundled("umls-transe").graph
    (fold,) = cut_folds(graph, 0)
    assert (fold.number, fold.kept) == (0, 0)
    assert fold.graph is graph


@pytest.mark.parametrize(
    ("count", "seed", "message"),
    [
        (1, 0, "expected 2 to 3 folds of graph tiny, or 0"),
        (-1, 0, "found -1 folds"),
        (4, 0, "found 4 folds"),
        (2, -1, "a seed ≥ 0; found 2 folds and seed -1"),
        (3, 0, "are needed in train, so that graph tiny holds nothing out"),
    ],
)
def test_refusals(count, seed, message):
    with pytest.raises(KgdashError, match=message):
        cut_folds(make_graph([(0, 0, 1), (2, 0, 3), (4, 0, 5)]), count, seed)
