"""What is drawn once of the same values, and anew of any others."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.metrics import loss_curve
from kgdash.graph.datasets import load_dataset
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.widgets.drawn import drawn

CALLS = []


def noted(*values):
    CALLS.append(values)
    return [len(CALLS)]


def other(*values):
    return noted(*values)


TABLE = pd.DataFrame(
    {"name": ["a", None, "Zoë"], "value": [0.5, np.nan, np.inf], "rank": [1, 2, 3]},
    index=[4, 5, 6],
)


@pytest.fixture(autouse=True)
def _nothing_drawn():
    memory.clear()
    yield
    memory.clear()


def test_equal_values_are_drawn_once():
    first = drawn(noted, TABLE, "title", (1, 3))
    assert drawn(noted, TABLE, "title", (1, 3)) is first
    assert drawn(noted, copy.deepcopy(TABLE), "title", (1, 3)) is first


@pytest.mark.parametrize(
    "changed",
    [
        TABLE.assign(value=[0.5, np.nan, np.nextafter(0.5, 1)]),
        TABLE.assign(value=[0.5, np.nan, -np.inf]),
        TABLE.assign(name=["a", None, "Zoe"]),
        TABLE.assign(rank=TABLE["rank"].astype("int32")),
        TABLE.rename(columns={"rank": "Rank"}),
        TABLE.reset_index(drop=True),
        TABLE[::-1],
        TABLE[["value", "name", "rank"]],
        TABLE[:2],
        TABLE.to_dict("list"),
    ],
)
def test_any_other_values_are_drawn_anew(changed):
    assert drawn(noted, changed) is not drawn(noted, TABLE)


def test_buffers_are_not_read_together():
    """Two arrays of the same bytes, divided elsewhere."""
    arrays = [np.arange(4), np.arange(8)], [np.arange(8), np.arange(4)]
    first, second = ([part.astype("int64") for part in pair] for pair in arrays)
    assert drawn(noted, *first) is not drawn(noted, *second)
    assert drawn(noted, first) is not drawn(noted, *first)


def test_metrics_differ_by_key():
    """Records of other k have keys, and are read, as others."""
    few, many = metric_records((3,)), metric_records((3, 7))
    assert drawn(noted, few["hits_at_3"]) is drawn(noted, many["hits_at_3"])
    assert drawn(noted, many["hits_at_7"]) is not drawn(noted, many["hits_at_3"])
    assert few["hits_at_3"].label == many["hits_at_3"].label


def test_graphs_are_told_apart_by_what_is_read_of_them():
    """Two with the same triples and other labels are two; the same one, loaded twice, is one."""
    graph, again = (load_dataset("umls") for _ in range(2))
    labels = (*graph.entity_labels[1:], "another")
    assert drawn(noted, graph) is drawn(noted, again)
    assert drawn(noted, graph) is not drawn(noted, replace(graph, entity_labels=labels))
    assert drawn(noted, graph) is not drawn(noted, replace(graph, name="another"))


def test_what_is_drawn_is_part_of_the_key():
    assert drawn(noted, TABLE) is not drawn(other, TABLE)


def test_a_figure_is_as_without():
    losses = [3.0, 2.0, 1.5]
    assert drawn(loss_curve, losses) == loss_curve(losses)
    assert drawn(loss_curve, losses) is drawn(loss_curve, [3.0, 2.0, 1.5])
