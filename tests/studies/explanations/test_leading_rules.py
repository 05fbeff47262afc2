"""The rules that lead to a triple, and their paths, are those that enumeration finds."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from kgdash.graph import IDS
from kgdash.studies.explanations import leading_rules as leading
from kgdash.studies.explanations.leading_rules import MIN_PCA, PATHS, leading_rules
from kgdash.studies.rules.mining import mine_rules
from kgdash.studies.rules.parsing import parse_rule
from tests.support.fakes import array, make_graph


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(5)
    facts = np.unique(rng.integers(0, (9, 4, 9), (90, 3)), axis=0)
    facts = np.concatenate([facts, [[2, 1, 2], [3, 0, 3]]])
    return make_graph(facts, entities=9, relations=4)


def enumerated(graph, triple):
    """Ground the body of every mined rule in all ways, on train without the triple."""
    facts = {tuple(row) for row in graph.split("train").tolist()} - {tuple(triple.tolist())}
    found = {}
    mined = mine_rules(graph, 2, min_pca=MIN_PCA)
    for text in mined.loc[mined["head_relation"] == triple[1], "rule"]:
        rule = parse_rule(text, graph)
        ways = set()
        inner = {x for _, *ends in rule.body for x in ends} - {"a", "b"}
        for value in range(graph.num_entities) if inner else [None]:
            at = {"a": triple[0], "b": triple[2]} | dict.fromkeys(inner, value)
            body = [(int(at[x]), r, int(at[y])) for r, x, y in rule.body]
            if all(atom in facts for atom in body):
                ways.add(tuple(body))
        if ways:
            found[text] = ways
    return found


@pytest.mark.parametrize(
    "triple", [(0, 1, 2), (2, 1, 3), (3, 2, 3), (5, 0, 8), (2, 3, 2), (7, 1, 1)]
)
def test_against_enumeration(graph, triple):
    triple = np.array(triple)
    for row in (triple, graph.split("train")[triple[0]]):
        expected, found = enumerated(graph, row), leading_rules(graph, row)
        assert set(found.table["rule"]) == set(expected)
        for place, (text, paths) in enumerate(found.table[["rule", "paths"]].to_numpy()):
            of = found.paths[found.paths["place"] == place].groupby("grounding")
            shown = {tuple(map(tuple, part[IDS].to_numpy().tolist())) for _, part in of}
            assert paths == len(expected[text])
            assert len(shown) == min(paths, PATHS)
            assert shown <= expected[text]


def test_best_first_and_together(graph):
    found = leading_rules(graph, graph.split("train")[3])
    confidences = found.table["pca_confidence"].to_numpy()
    assert len(confidences) > 1
    assert (np.diff(confidences) <= 0).all()
    assert found.maximum == confidences[0]
    assert found.noisy_or == pytest.approx(1 - np.prod(1 - confidences))


def test_no_rule_of_the_relation():
    found = leading_rules(make_graph([(0, 0, 1), (1, 1, 2)]), array([(0, 0, 2)])[0])
    assert (len(found.table), len(found.paths), found.mined) == (0, 0, 0)
    assert found.maximum is None
    assert found.noisy_or is None


def test_two_entities_that_thousands_lie_between(monkeypatch):
    """Steps by entities between the ends: of 2,000 relations and 20,000 entities, 80 MB."""
    between = np.arange(2, 20_000)
    zeros = np.zeros_like(between)
    out = np.stack([zeros, between % 2_000, between], axis=1)
    into = np.stack([between, between % 2_000, zeros + 1], axis=1)
    graph = make_graph(np.concatenate([out, into, [[0, 0, 1]]]), entities=20_000, relations=2_000)
    rules = pd.DataFrame(
        {"first": [5, 0, 6], "second": [5, 0, 7], "joint": False, "atoms": [2, 1, 2]}
    )
    tracemalloc.start()
    there = leading._Steps.of(graph, array([(0, 0, 1)])[0])
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 2**24
    assert there.groundings(rules).tolist() == [10, 0, 0]
    assert len(there.paths(rules.head(1))) == 2 * PATHS
