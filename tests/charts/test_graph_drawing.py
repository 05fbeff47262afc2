"""What the interactive drawing is given."""

import json

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.graph_drawing import (
    GraphDrawing,
    drawable,
    known_relik,
    readable_facts,
    readable_view,
)
from kgdash.charts.graph_layout import layout, pairs_of
from kgdash.charts.relik_scale import ReliKScale

TRIPLES = pd.DataFrame(
    [(7, 2, 3, 0.5), (3, 0, 7, 1e-5), (3, 0, 3, 0.04), (7, 2, 5, 0.1)],
    columns=["head", "relation", "tail", "relik"],
)
LABELS = [f"entity {number}" for number in range(9)]


def drawing(triples=TRIPLES, **more) -> GraphDrawing:
    entities = np.array([7, 3, 5])
    placed = layout(entities, pairs_of(triples))
    scale = ReliKScale(1e-4, 1e-2, 1e-1, "all 4")
    relations = ["is", "of", "near"]
    return GraphDrawing(entities, triples, LABELS, relations, placed, scale, 3, **more)


def test_edges_are_the_triples_in_order():
    data = drawing().payload()
    nodes, relations = data["nodes"], data["relations"]
    found = [
        (nodes[e["a"]]["id"], relations[e["r"]], nodes[e["b"]]["id"], e["relik"])
        for e in data["edges"]
    ]
    assert found == [
        (7, "near", 3, 0.5),
        (3, "is", 7, 1e-5),
        (3, "is", 3, 0.04),
        (7, "near", 5, 0.1),
    ]
    assert data["relation_ids"] == [0, 2]


def test_nodes_carry_label_weight_and_marks():
    nodes = {node["id"]: node for node in drawing(added=frozenset({5})).payload()["nodes"]}
    assert [nodes[e]["label"] for e in (7, 3, 5)] == ["entity 7", "entity 3", "entity 5"]
    # 3 has four ends of triples, 7 three, 5 one.
    assert [nodes[e]["weight"] for e in (3, 7, 5)] == pytest.approx([1, 0.75**0.5, 0.5], abs=1e-3)
    assert [e for e in nodes if nodes[e]["seed"]] == [3]
    assert [e for e in nodes if nodes[e]["added"]] == [5]
    assert sorted(node["order"] for node in nodes.values()) == [0, 1, 2]


def test_it_is_json_and_the_version_tells_any_change():
    same, other = drawing().payload(), drawing(TRIPLES.assign(relik=0.5)).payload()
    assert json.loads(json.dumps(same)) == drawing().payload()
    assert same["version"] != other["version"]
    assert same["part"] == other["part"]


def test_a_wide_interval_is_no_value():
    table = TRIPLES.assign(relik_low=[0.4, 1e-6, 0.039, 0.01], relik_high=[0.6, 1e-3, 0.05, 0.2])
    np.testing.assert_array_equal(known_relik(table), [0.5, np.nan, 0.04, np.nan])
    edges = drawing(table).payload()["edges"]
    assert [edge["relik"] for edge in edges] == [0.5, None, 0.04, None]


@pytest.mark.parametrize(
    ("entities", "facts", "view", "shown"),
    [
        (60, 2000, "matrix", "least reliable"),
        (20, 60, "graph", "all"),
        (60, 150, "graph", "all"),
        (500, 1200, "graph", "least reliable"),
        (1000, 20_000, "graph", "least reliable"),
    ],
)
def test_the_first_view_is_the_one_that_can_be_read(entities, facts, view, shown):
    assert (readable_view(entities, facts), readable_facts(facts)) == (view, shown)


def test_of_many_triples_the_least_reliable_are_drawn():
    """Of 43,000, a browser shows a tangle, and each rerun wrote megabytes of it."""
    relik = np.random.default_rng(0).permutation(12_000) / 12_000
    triples = pd.DataFrame({"head": 0, "relation": 0, "tail": 1, "relik": relik})
    drawn = drawable(triples)
    assert len(drawn) == 10_000
    assert drawn["relik"].max() < triples.drop(drawn.index)["relik"].min()
    assert drawable(drawn) is drawn
