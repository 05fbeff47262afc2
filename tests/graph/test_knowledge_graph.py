"""Graphs: splits, names, filters, digests."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.graph import FILTERS, default_filter, triple_array, triple_text
from tests.support.fakes import array, make_graph

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0), (0, 0, 1)])


def test_all_triples_are_the_union_once():
    assert GRAPH.all_triples.tolist() == [[0, 0, 1], [0, 1, 0], [1, 1, 2], [2, 0, 0]]
    assert (GRAPH.num_entities, GRAPH.num_relations) == (3, 2)


def test_known_by_splits():
    triples = array([(0, 0, 1), (2, 0, 0), (0, 1, 0)])
    assert GRAPH.known(("train",)).contains(triples).tolist() == [True, False, False]
    assert GRAPH.known(("train", "valid")).contains(triples).tolist() == [True, True, False]
    assert GRAPH.known(("test",)).contains(triples).tolist() == [True, False, True]
    assert GRAPH.known().contains(triples).all()
    assert len(GRAPH.known(())) == 0


def test_a_graph_with_other_splits_asks_its_own_triples():
    # Each of these is kept once it was asked for.
    assert GRAPH.known().contains(array([(0, 0, 1)])).all()
    assert GRAPH.adjacency("outgoing")[0, 1] == 1
    assert (len(GRAPH.all_triples), GRAPH.degrees[1], len(GRAPH.digest)) == (4, 2, 64)
    other = replace(GRAPH, splits={**GRAPH.splits, "train": array([(1, 0, 1)]), "test": array([])})
    asked = array([(0, 0, 1), (1, 0, 1), (2, 0, 0)])
    assert other.known().contains(asked).tolist() == [False, True, True]
    assert other.known(("train",)).contains(asked).tolist() == [False, True, False]
    assert other.known_with(asked[1:], ("train",)).contains(asked).tolist() == [False, True, True]
    assert other.split_of(asked).tolist() == ["none", "train", "valid"]
    assert other.adjacency("outgoing")[0, 1] == 0
    assert (other.all_triples.tolist(), other.degrees.tolist()) == (
        [[1, 0, 1], [2, 0, 0]],
        [1, 1, 1],
    )
    assert other.digest != GRAPH.digest
    assert GRAPH.known().contains(asked).tolist() == [True, False, True]


def test_split_of_names_the_first_that_holds_it():
    asked = array([(0, 1, 0), (0, 0, 1), (2, 0, 0), (2, 1, 2)])
    assert GRAPH.split_of(asked).tolist() == ["test", "train", "valid", "none"]
    apart = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)])
    assert apart.split_of(asked).tolist() == ["test", "train", "valid", "none"]


@pytest.mark.parametrize("direction", ["either", "outgoing", "incoming"])
@pytest.mark.parametrize(("entities", "count"), [(1, 1), (6, 60), (40, 100)])
def test_neighbours_and_the_triples_that_join_them(direction, entities, count):
    draw = np.random.default_rng(entities)
    triples = draw.integers([entities, 3, entities], size=(count, 3)).tolist()
    graph = make_graph(triples, entities=entities, relations=3)
    expected = np.zeros((entities, entities), dtype=int)
    for head, _, tail in set(map(tuple, triples)):
        if head != tail and direction != "incoming":
            expected[head, tail] += 1
        if head != tail and direction != "outgoing":
            expected[tail, head] += 1
    found = graph.adjacency(direction)
    assert found.toarray().tolist() == expected.tolist()
    assert found.nnz == (expected > 0).sum()
    assert found.has_canonical_format


def test_degrees_count_triples():
    # e0 is an end of all but (1, 1, 2); the loop (0, 1, 0) is one triple.
    assert GRAPH.degrees.tolist() == [3, 2, 2]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("valid", "train+valid"),
        ("test", "train+valid+test"),
        ("train", "train+valid+test"),
        (None, "train+valid+test"),
    ],
)
def test_default_filter_hides_test_from_validation(split, expected):
    assert default_filter(split) == expected
    assert expected in FILTERS


def test_a_split_that_is_not_there():
    with pytest.raises(KgdashError, match=r"unknown split 'tests'.*did you mean 'test'"):
        GRAPH.split("tests")
    with pytest.raises(KgdashError, match=r"'valid' of graph tiny holds no triples.*train \(1\)"):
        make_graph([(0, 0, 0)]).split("valid")


def test_equal_graphs_have_equal_digests_and_others_not():
    again = make_graph([(1, 1, 2), (0, 0, 1)], [(2, 0, 0)], [(0, 1, 0), (0, 0, 1)])
    assert again.digest == GRAPH.digest
    renamed = replace(GRAPH, entities=("e0", "e1", "x"))
    swapped = make_graph([(2, 0, 0)], [(0, 0, 1), (1, 1, 2)], [(0, 1, 0), (0, 0, 1)])
    moved = make_graph([(0, 0, 1), (1, 1, 2), (2, 0, 0)], [], [(0, 1, 0), (0, 0, 1)])
    shifted = replace(GRAPH, entities=("e0", "e1e2", ""))
    digests = {g.digest for g in (GRAPH, renamed, swapped, moved, shifted)}
    assert len(digests) == 5


class TestNames:
    graph = replace(GRAPH, entity_labels=("Paris", "paris", "Rome"), relation_labels=("In", "in"))

    @pytest.mark.parametrize(
        ("name", "number"),
        [("e0", 0), ("E1", 1), ("Paris", 0), ("paris", 1), ("rome", 2), ("ROME", 2), ("e2", 2)],
    )
    def test_name_then_label_then_any_case(self, name, number):
        assert self.graph.entity_id(name) == number

    def test_relations_likewise(self):
        assert [self.graph.relation_id(n) for n in ("r1", "In", "in", "R0")] == [1, 0, 1, 0]

    def test_ambiguous(self):
        with pytest.raises(KgdashError, match=r"2 entries .* labelled 'PARIS'.* 'e0', 'e1'"):
            self.graph.entity_id("PARIS")

    def test_a_name_wins_over_another_ones_label(self):
        graph = replace(GRAPH, entity_labels=("e1", "x", "y"))
        assert graph.entity_id("e1") == 1

    def test_unknown_suggests(self):
        with pytest.raises(
            KgdashError, match=r"unknown entity 'Romme' in graph tiny .*did you mean 'Rome'"
        ):
            self.graph.entity_id("Romme")
        with pytest.raises(KgdashError, match="unknown relation 'zzz'"):
            self.graph.relation_id("zzz")


def test_labelled_replaces_ids_in_a_copy():
    table = pd.DataFrame({"head": [2], "relation": [1], "tail": [0], "relik": [0.5]})
    assert GRAPH.with_names(table).iloc[0].tolist() == ["E2", "R1", "E0", 0.5]
    assert table["head"].tolist() == [2]
    assert GRAPH.with_names(table[["tail", "relik"]]).iloc[0].tolist() == ["E0", 0.5]


class TestTripleArray:
    @pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
    def test_gives_int64(self, dtype):
        made = triple_array(np.array([[0, 1, 2]], dtype=dtype), GRAPH)
        assert made.dtype == np.int64
        assert made.tolist() == [[0, 1, 2]]

    def test_takes_lists_of_tuples(self):
        assert triple_array([(0, 1, 2), (1, 0, 0)], GRAPH).tolist() == [[0, 1, 2], [1, 0, 0]]

    @pytest.mark.parametrize(
        ("triples", "message"),
        [
            ([], r"non-empty array of triples of shape \(n, 3\); found \(0,\)"),
            (np.zeros((0, 3), dtype=int), r"found \(0, 3\)"),
            ([(0, 0)], "triples of 3 ids each; found rows of 2"),
            ([(0, 0, 0), (0, 1)], "triples of 3 ids each; found rows of 2, 3"),
            (np.zeros(3, dtype=int), r"found \(3,\)"),
            ([(0.0, 0.0, 1.0)], "integer ids .* float64"),
            ([(0, 0, 1), (3, 0, 0)], r"triple 1 has ids \(3, 0, 0\), outside .* 3 entities"),
            ([(0, 2, 0)], r"triple 0 has ids \(0, 2, 0\).* 2 relations"),
            ([(0, 0, -1)], r"triple 0 has ids \(0, 0, -1\)"),
        ],
    )
    def test_refuses(self, triples, message):
        with pytest.raises(KgdashError, match=message):
            triple_array(triples, GRAPH)


def test_triples_as_text():
    assert triple_text("a", "r", "b") == "a — r → b"
    table = pd.DataFrame({"head": ["a", "c"], "relation": ["r", "s"], "tail": ["b", "d"]})
    texts = triple_text(table["head"], table["relation"], table["tail"])
    assert texts.tolist() == ["a — r → b", "c — s → d"]


def test_a_label_in_many_rows_is_kept_once():
    """Copied into each row, two hundred labels of 50,000 characters take gigabytes."""
    table = pd.DataFrame({"head": [0, 0, 1], "relation": [1, 1, 1], "tail": [2, 0, 0]}, [4, 2, 7])
    named = GRAPH.with_names(table)
    assert named["head"].tolist() == [GRAPH.entity_labels[at] for at in (0, 0, 1)]
    assert named.index.tolist() == [4, 2, 7]
    for column, labels in (("head", GRAPH.entity_labels), ("relation", GRAPH.relation_labels)):
        assert all(any(text is label for label in labels) for text in named[column])
