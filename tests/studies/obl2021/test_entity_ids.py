"""Entities that are named by numbers."""

import pytest

import kgdash
from kgdash.errors import KgdashError
from kgdash.studies.obl2021.entity_ids import entity_numbers
from tests.support.fakes import make_graph


def test_entities_named_by_numbers():
    graph = make_graph([(0, 0, 1)], entities=3)
    with pytest.raises(KgdashError, match="found 'e0' in graph tiny"):
        entity_numbers(graph)
    named = kgdash.graph.KnowledgeGraph(
        "n", ("0", "10", "2"), ("r",), graph.splits, ("a", "b", "c"), ("r",)
    )
    assert entity_numbers(named).tolist() == [0, 10, 2]
    large = kgdash.graph.KnowledgeGraph(
        "n", ("0", "1" * 10, "2"), ("r",), graph.splits, ("a", "b", "c"), ("r",)
    )
    with pytest.raises(KgdashError, match="found '1111111111'"):
        entity_numbers(large)
    twice = kgdash.graph.KnowledgeGraph(
        "n", ("0", "00", "2"), ("r",), graph.splits, ("a", "b", "c"), ("r",)
    )
    with pytest.raises(KgdashError, match="same number"):
        entity_numbers(twice)
