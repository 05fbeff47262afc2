"""Groups of queries are functions of the query alone, by their definitions."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.graph.ends import train_degrees
from kgdash.studies.probability.query_groups import (
    GROUPINGS,
    Queries,
    _span,
    grouping,
    mean_relik,
)
from tests.support.fakes import fake_run, make_graph, random_scorer


@pytest.fixture(scope="module")
def graph_run(bundled):
    return bundled("umls-complex")


def test_parts_that_lie_close_are_told_apart():
    """A click on the second of two "0.120 to 0.120" showed the first one's queries."""
    edges = np.array([0.12, 0.1201, 0.12011, 0.5])
    assert [_span(part, edges, False) for part in range(5)] == [
        "≤ 0.12", "0.12 to 0.1201", "0.1201 to 0.12011", "0.12011 to 0.5", "> 0.5",
    ]  # fmt: skip
    assert _span(1, edges[[0, 3]], False) == "0.120 to 0.500"
    assert [_span(part, np.array([3.0, 4, 9]), True) for part in range(4)] == [
        "≤ 3", "4", "5 to 9", "> 9",
    ]  # fmt: skip


def test_queries_of_triples():
    found = Queries.of(np.array([[1, 7, 2], [3, 8, 4]]))
    assert found.side.tolist() == ["head", "head", "tail", "tail"]
    assert found.relation.tolist() == [7, 8, 7, 8]
    assert found.anchor.tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize("by", GROUPINGS)
def test_equal_queries_are_in_one_group(graph_run, by):
    groups = grouping(graph_run, by)
    asked = Queries.of(graph_run.graph.split("test"))
    codes = groups.codes(asked)
    seen = {}
    for key, code in zip(
        zip(asked.side, asked.relation, asked.anchor, strict=True), codes, strict=True
    ):
        assert seen.setdefault(key, code) == code
    assert all(groups.name(int(code)) for code in set(codes.tolist()) if code >= 0)


@pytest.mark.parametrize("by", ["degree", "relik"])
def test_deciles_hold_as_many_validation_queries(graph_run, by):
    values = mean_relik(graph_run) if by == "relik" else train_degrees(graph_run.graph)
    asked = Queries.of(graph_run.graph.split("valid"))
    codes = grouping(graph_run, by).codes(asked)
    most = np.bincount(codes[codes >= 0]).max() / len(codes)
    assert most < 0.2
    order = np.argsort(values[asked.anchor], kind="stable")
    assert (np.diff(codes[order][codes[order] >= 0]) >= 0).all()


def test_names_of_degrees_hold_all_their_values(graph_run):
    """They are whole numbers, and no number is of two groups."""
    degrees, groups = train_degrees(graph_run.graph), grouping(graph_run, "degree")
    asked = Queries.of(graph_run.graph.split("valid"))
    for code, degree in zip(groups.codes(asked), degrees[asked.anchor].astype(int), strict=True):
        low, _, high = groups.name(int(code)).partition(" to ")
        if low[0] in "≤>":
            limit = int(low[2:].replace(",", ""))
            assert (degree <= limit) == (low[0] == "≤")
        else:
            assert int(low) <= degree <= int(high or low)


def test_relik_and_degree_of_entities(graph_run):
    table = graph_run.relik("train")
    relik, degree = mean_relik(graph_run), train_degrees(graph_run.graph)
    for entity in (0, 40, 134):
        own = table[(table["head"] == entity) | (table["tail"] == entity)]["relik"]
        assert relik[entity] == pytest.approx(own.mean(), nan_ok=True)
        assert degree[entity] == len(own)


@pytest.mark.parametrize("by", GROUPINGS)
def test_validation_queries_of_entities_that_train_lacks(by):
    graph = make_graph([(0, 0, 1), (1, 0, 0)], valid=[(2, 0, 3)], test=[(0, 0, 0)], entities=4)
    groups = grouping(fake_run(graph, random_scorer(4, 1)), by)
    codes = groups.codes(Queries.of(graph.split("test")))
    assert all(groups.name(int(code)) for code in codes)
    assert (codes >= 0).all()


def test_unknown_grouping(graph_run):
    with pytest.raises(KgdashError, match="grouping"):
        grouping(graph_run, "colour")
