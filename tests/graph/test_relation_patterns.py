"""Cardinality and patterns of relations, on graphs made by hand."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from kgdash.graph import relation_patterns
from kgdash.graph.relation_patterns import (
    NO_PATTERN,
    NOT_IN_TRAIN,
    relation_kinds,
    stored_relation_kinds,
)
from tests.support.fakes import make_graph


@pytest.mark.parametrize(
    ("pairs", "cardinality", "tails_per_head", "heads_per_tail"),
    [
        ([(0, 1), (2, 3)], "1-1", 1.0, 1.0),
        ([(0, 1), (0, 2), (0, 3)], "1-n", 3.0, 1.0),
        ([(1, 0), (2, 0), (3, 0)], "n-1", 1.0, 3.0),
        ([(0, 2), (0, 3), (1, 2), (1, 3)], "n-n", 2.0, 2.0),
        ([(0, 1), (0, 2), (3, 4)], "1-n", 1.5, 1.0),  # the threshold itself is many
        ([(0, 1), (0, 2), (3, 4), (5, 6)], "1-1", 4 / 3, 1.0),
    ],
)
def test_cardinality(pairs, cardinality, tails_per_head, heads_per_tail):
    kinds = relation_kinds(make_graph([(h, 0, t) for h, t in pairs], entities=7)).iloc[0]
    assert kinds["cardinality"] == cardinality
    assert kinds["train"] == len(pairs)
    assert kinds["tails_per_head"] == pytest.approx(tails_per_head)
    assert kinds["heads_per_tail"] == pytest.approx(heads_per_tail)


def test_only_train_counts():
    graph = make_graph([(0, 0, 1)], test=[(0, 0, 2), (0, 0, 3), (1, 1, 0)])
    kinds = relation_kinds(graph)
    assert kinds["cardinality"].tolist() == ["1-1", NOT_IN_TRAIN]
    assert kinds["pattern"].tolist() == [NO_PATTERN, NOT_IN_TRAIN]
    assert kinds["train"].tolist() == [1, 0]
    assert np.isnan(kinds["tails_per_head"][1])


def pattern(train, relation=0, **sizes):
    kinds = relation_kinds(make_graph(train, **sizes)).iloc[relation]
    return kinds["pattern"], kinds["partners"]


def test_symmetric():
    both_ways = [(0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 2)]
    assert pattern(both_ways) == ("symmetric", "")
    assert pattern([*both_ways, (4, 0, 5)]) == ("symmetric", "")  # 4 of 5
    assert pattern([*both_ways, (4, 0, 5), (6, 0, 7)]) == (NO_PATTERN, "")  # 4 of 6


def test_loops_make_no_pattern():
    assert pattern([(0, 0, 0), (1, 0, 1)]) == (NO_PATTERN, "")
    loops = [(e, 0, e) for e in range(10)]
    assert pattern([*loops, (0, 0, 1), (1, 0, 0)]) == ("symmetric", "")
    assert pattern([*loops, (0, 0, 1), (0, 0, 2)]) == (NO_PATTERN, "")


def test_inverse_holds_both_ways():
    one = [(e, 0, e + 5) for e in range(5)]
    other = [(e + 5, 1, e) for e in range(5)]
    assert pattern(one + other) == ("inverse", "R1")
    assert pattern(one + other, relation=1) == ("inverse", "R0")
    assert pattern(one + other[:4]) == ("inverse", "R1")  # 4 of 5 are reversed
    assert pattern(one + other[:3]) == (NO_PATTERN, "")
    wider = [(e + 5, 1, (e + 1) % 5) for e in range(5)]
    # All of r0 is reversed, but only half of r1 is of r0.
    assert pattern(one + other + wider) == (NO_PATTERN, "")


def test_composed():
    first = [(e, 1, e + 4) for e in range(4)]
    second = [(e + 4, 2, e + 8) for e in range(4)]
    ends = [(e, 0, e + 8) for e in range(4)]
    assert pattern(ends + first + second) == ("composed", "R1, R2")
    assert pattern(ends[:3] + first + second) == (NO_PATTERN, "")  # 3 of 4 paths hold
    more = [(8, 0, e) for e in (0, 1, 2)]
    assert pattern(ends + more + first + second) == ("composed", "R1, R2")  # 4 of 7 covered
    more = [(8, 0, e) for e in (0, 1, 2, 3, 4)]
    assert pattern(ends + more + first + second) == (NO_PATTERN, "")  # 4 of 9


def test_composed_among_millions_of_relations():
    """Three of them were one number of more than 64 bits: none was found of 2.2 million."""
    names = range(2_200_000)
    first, second, both = names[-3:]
    rows = [((0, first, 1), (1, second, 2), (0, both, 2)) for _ in range(6)]
    train = np.array([[(h + 3 * i, r, t + 3 * i) for h, r, t in row] for i, row in enumerate(rows)])
    graph = make_graph([(0, 0, 1)], entities=18)
    splits = {**graph.splits, "train": train.reshape(-1, 3)}
    graph = replace(graph, splits=splits, relations=names, relation_labels=names)
    found = relation_kinds(graph).iloc[-1]
    assert (found["pattern"], found["partners"]) == ("composed", f"{first}, {second}")


def test_transitive_is_composed_of_itself():
    order = [(a, 0, b) for a in range(5) for b in range(a + 1, 5)]
    assert pattern(order) == ("composed", "R0, R0")


def test_the_first_pattern_that_holds():
    everything = [(a, r, b) for r in (0, 1) for a in range(4) for b in range(4) if a != b]
    assert pattern(everything) == ("symmetric", "")


def test_an_empty_train_split():
    kinds = relation_kinds(make_graph([], test=[(0, 0, 1)]))
    assert kinds["pattern"].tolist() == [NOT_IN_TRAIN]


def test_labels_of_the_graph(bundled):
    kinds = relation_kinds(bundled("umls-transe").graph)
    labels = list(bundled("umls-transe").graph.relation_labels)
    assert kinds["partners"][labels.index("isa")] == "isa, isa"
    assert kinds["train"].sum() == len(bundled("umls-transe").graph.split("train"))


def test_a_graph_of_other_labels_has_its_own(bundled, monkeypatch):
    """What is kept on the disk of one graph named its partners on pages of its like."""
    graph = bundled("umls-transe").graph
    other = replace(graph, relation_labels=tuple(f"like {name}" for name in graph.relation_labels))
    monkeypatch.setattr("kgdash.files.table_cache._WORTH_KEEPING", 0.0)
    partners = [stored_relation_kinds(each)["partners"].tolist() for each in (graph, other, graph)]
    assert partners[0] == partners[2] != partners[1]
    assert all("like " in each for each in partners[1] if each)


def test_memory_is_not_entities_times_relations(monkeypatch):
    """Triangles of relations of their own: all are composed, and each needs two others."""
    monkeypatch.setattr(relation_patterns, "_AT_HAND", 4, raising=False)
    first = 3 * np.arange(600)
    sides = [(0, 0, 1), (1, 1, 2), (0, 2, 2)]
    facts = np.concatenate([[side + 3 * i for i in range(600)] for side in np.array(sides)])
    graph = make_graph(facts)
    assert graph.num_entities == graph.num_relations == 1800
    tracemalloc.start()
    kinds = relation_kinds(graph)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kinds["pattern"][first + 2].eq("composed").all()
    assert peak < 2**23


def test_many_relations_between_few_entities_take_little(monkeypatch):
    """Without bounds: 30 million paths, and gigabytes. Relations of their own are found even so."""
    for name, most in {"_READ": 2**18, "_COUNTED": 2**10, "_REVERSED": 2**12}.items():
        monkeypatch.setattr(relation_patterns, name, most)
    rng, n = np.random.default_rng(0), 3000
    crowd = np.stack([rng.integers(0, 10, n), np.arange(n) % 1000, rng.integers(0, 10, n)], axis=1)
    apart = [(10, 1000, 11), (11, 1001, 12), (10, 1002, 12), (13, 1003, 14), (14, 1004, 13)]
    graph = make_graph(np.concatenate([crowd, apart]))
    tracemalloc.start()
    kinds = relation_kinds(graph)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kinds["pattern"][1000:].tolist() == [NO_PATTERN] * 2 + ["composed"] + ["inverse"] * 2
    assert peak < 2**27


def test_paths_are_told_of_and_may_be_ended():
    graph, calls = make_graph([(n, r, n + r + 1) for n in range(9) for r in range(3)]), []
    relation_kinds(graph, lambda done, total: calls.append((done, total)))
    assert [done for done, _ in calls] == list(range(calls[0][1]))

    def end(done, total):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        relation_kinds(graph, end)
