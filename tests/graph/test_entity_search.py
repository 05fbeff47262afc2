"""Entities are found by name, label or a part of one."""

from dataclasses import replace

import numpy as np
import pytest

from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_search import entity_text, relation_texts, search_entities, told_apart

NAMES = ("/m/1", "/m/2", "/m/3", "/m/4", "plain")
LABELS = ("Tom Hanks", "Tom Cruise", "Tom", "Major Tom", "plain")


@pytest.fixture(scope="module")
def graph():
    train = np.array([[1, 0, 0], [1, 0, 2], [1, 0, 3], [0, 0, 3]])
    nothing = np.zeros((0, 3), dtype=np.int64)
    splits = {"train": train, "valid": nothing, "test": nothing}
    return KnowledgeGraph(
        "tiny", NAMES, ("r",), splits, entity_labels=LABELS, relation_labels=("r",)
    )


def test_names_behind_labels_where_they_differ(graph):
    assert [entity_text(graph, e) for e in (0, 4)] == ["Tom Hanks (/m/1)", "plain"]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ({"a": "x", "b": "y"}, ["x", "y"]),
        ({"a": "x", "b": "x", "c": "y"}, ["a", "b", "y"]),
        ({"a": "b", "b": "y"}, ["a", "y"]),
        ({"a": "x", "x": "x"}, ["a", "x"]),
        ({"a": "x", "b": "x", "c": "a"}, ["a", "b", "c"]),
    ],
)
def test_texts_that_show_names_are_told_apart(texts, shown):
    assert list(told_apart(texts).values()) == shown


def test_relations_of_one_label_are_shown_by_name(graph):
    two = replace(graph, relations=("r", "s"), relation_labels=("knows", "knows"))
    assert relation_texts(two) == ["r", "s"]
    assert relation_texts(replace(two, relation_labels=("knows", "s"))) == ["knows", "s"]


@pytest.mark.parametrize("entity", range(5))
def test_name_label_and_both_find_one(graph, entity):
    for text in (NAMES[entity], LABELS[entity], entity_text(graph, entity), f" {NAMES[entity]} "):
        assert search_entities(graph, text) == [entity]


def test_parts_find_several_beginnings_first_then_by_degree(graph):
    assert search_entities(graph, "to") == [1, 0, 2, 3]
    assert search_entities(graph, "to", most=2) == [1, 0]
    assert search_entities(graph, "M/") == [1, 0, 3, 2]
    assert search_entities(graph, "hanks") == [0]


@pytest.mark.parametrize("text", ["", "  ", "nobody", "Tom Hanks (/m/2)"])
def test_nothing_fits(graph, text):
    assert search_entities(graph, text) == []
