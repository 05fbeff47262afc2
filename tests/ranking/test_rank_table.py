"""Ranks row by row: the same in whatever parts and order they are asked for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.row_table import RowTable
from kgdash.graph.known_triples import SIDES
from kgdash.ranking import rank_table
from kgdash.ranking.rank_table import COLUMNS, RankTable
from kgdash.ranking.ranks import rank_triples
from tests.support.fakes import make_graph, random_scorer, worlds


def table_of(scorer, graph, known, name="t") -> RankTable:
    rows = RowTable({"name": name}, COLUMNS, len(graph.all_triples), {"kind": "ranks"})
    return RankTable(scorer, graph, known, rows)


@given(worlds(splits=1), st.data())
@settings(max_examples=40)
def test_any_parts_in_any_order_give_the_rows_of_all_at_once(world, data):
    scorer, (known,), more = world
    graph = make_graph(known + more, (), (), scorer.num_entities, scorer.num_relations)
    filtered = data.draw(st.sampled_from([None, graph.known()]))
    table = table_of(scorer, graph, filtered, str(id(world)))
    part = st.lists(st.integers(0, len(graph.all_triples) - 1), min_size=1)
    sides = st.lists(st.sampled_from(list(SIDES)), min_size=1, unique=True)
    for rows, chosen in data.draw(st.lists(st.tuples(part, sides), max_size=4)):
        expected = rank_triples(scorer, graph.all_triples[rows], filtered, chosen)
        pd.testing.assert_frame_equal(table.ranks(np.array(rows), chosen), expected)


GRAPH = make_graph([(0, 0, 1), (0, 1, 2), (3, 0, 1), (4, 1, 4)], [(2, 0, 0)], (), 5, 2)


def test_only_what_is_missing_is_counted(monkeypatch):
    scorer, counted = random_scorer(5, 2), []
    own = rank_table.count_greater_and_equal

    def counting(scorer, triples, known, side, progress):
        counted.append((side, len(triples)))
        return own(scorer, triples, known, side, progress)

    monkeypatch.setattr(rank_table, "count_greater_and_equal", counting)
    table = table_of(scorer, GRAPH, GRAPH.known())
    table.ranks(np.array([0, 3, 0]), ["tail"])
    table.ranks(np.array([3, 4, 0]), ["head", "tail"])
    table.ranks(np.arange(5), ["tail"])
    assert counted == [("tail", 2), ("head", 3), ("tail", 1), ("tail", 2)]
    assert table.table.filled("relation_greater") == 0


@pytest.mark.parametrize("name", ["umls-distmult", "umls-conve"])
def test_bundled_runs_in_small_turns(bundled, name, monkeypatch):
    run = bundled(name)
    triples = run.graph.all_triples[::7]
    expected = rank_triples(run.scorer, triples, run.graph.known(), list(SIDES))
    monkeypatch.setattr(rank_table, "_TURN", 135 * 50)
    table = table_of(run.scorer, run.graph, run.graph.known())
    rows = run.graph.positions(triples)
    pd.testing.assert_frame_equal(table.ranks(rows, list(SIDES)), expected)


def test_an_unknown_side_is_refused():
    with pytest.raises(KgdashError, match="expected sides out of"):
        table_of(random_scorer(5, 2), GRAPH, None).ranks(np.arange(2), ["left"])
