"""Which facts belong to what was clicked."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.graph.datasets import load_dataset
from kgdash.ui.graph_view.component import Selection
from kgdash.ui.subgraphs.selected_part import _listed, chosen_rows

TRIPLES = pd.DataFrame({"head": [7, 3, 3, 7], "relation": 0, "tail": [3, 7, 3, 5], "relik": 0.5})


@pytest.mark.parametrize(
    ("picked", "rows"),
    [
        (Selection(), [0, 1, 2, 3]),
        (Selection(node=3), [0, 1, 2]),
        (Selection(node=5), [3]),
        (Selection(rows=(1,)), [1]),
        (Selection(rows=(0, 3)), [0, 3]),
    ],
)
def test_chosen_rows(picked, rows):
    np.testing.assert_array_equal(chosen_rows(picked, TRIPLES), rows)


def test_a_fact_is_its_labels_and_the_end_of_its_relation():
    graph = load_dataset("umls")
    paths = tuple(f"/medicine/{name}/{name} of" for name in graph.relations)
    graph = replace(graph, relation_labels=paths)
    part = pd.DataFrame({"head": [7, 3], "relation": [2, 0], "tail": [3, 3], "relik": [0.5, 1]})
    part.index = [4, 2]
    names, relations = graph.entities, graph.relations
    expected = [
        f"{names[7]} — {relations[2]} of → {names[3]}",
        f"{names[3]} — {relations[0]} of → {names[3]}",
    ]
    facts = pd.DataFrame({"fact": expected, "relik": [0.5, 1]}, [4, 2])
    pd.testing.assert_frame_equal(_listed(Selection(), graph, part), facts)
