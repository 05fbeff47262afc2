"""Counting ahead: all of ReliK, the ranks of test; stopped and gone on with; second to others."""

import threading

import numpy as np
import pandas as pd
import pytest

from kgdash.files import row_table
from kgdash.files import table_cache as store
from kgdash.files.table_cache import list_cache
from kgdash.files.turns import first_in_line
from kgdash.ranking import relik_table
from kgdash.ranking.relik import relik_values
from kgdash.ranking.relik_exact import relik_exact
from kgdash.runs import preparation as module
from kgdash.runs.loading import load
from kgdash.runs.preparation import is_counted_unasked, least_hours, prepare, prepared_share
from kgdash.studies.reliability.local_comparison import compare
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.support.fakes import fake_run, make_graph, random_scorer

ROWS = np.unique(np.random.default_rng(3).integers(0, (40, 2, 40), (200, 3)), axis=0)
GRAPH = make_graph(ROWS[:150], ROWS[150:170], ROWS[170:], 40, 2)


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(relik_table, "_LEAST", 40 * 2 * 10)
    monkeypatch.setattr(row_table, "_LEAST", 1e-9)
    monkeypatch.setattr(row_table, "_TIMES", 0)
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    return fake_run(GRAPH, random_scorer(40, 2))


def test_afterwards_nothing_is_scored_for_any_page(run):
    assert prepared_share(run) == 0
    prepare(run)
    assert prepared_share(run) == 1
    again = fake_run(GRAPH, run.scorer)
    run.scorer.asked.clear()
    map_ = reliability_map(again)
    compare(again, again.subgraph(3, size=20))
    again.ranks(sides=("head", "tail", "relation"))
    assert run.scorer.asked == []
    expected = relik_values(relik_exact(run.scorer, GRAPH.all_triples, GRAPH.known()))
    pd.testing.assert_frame_equal(map_.relik, expected)
    assert sorted(list_cache()["kind"]) == ["ranks", "relik"]


def test_stopped_it_goes_on_there(run):
    def stop(done, total):
        if done / total > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(run, stop)
    again = fake_run(GRAPH, run.scorer)
    share = prepared_share(again)
    assert 0.3 < share < 0.9
    told = []
    prepare(again, lambda done, total: told.append(done / total))
    assert told == sorted(told)
    assert share <= told[0]
    assert told[-1] == 1
    assert prepared_share(again) == 1


def test_it_gives_way(run):
    ended = threading.Event()

    def work():
        prepare(run, gives_way=True)
        ended.set()

    with first_in_line():
        thread = threading.Thread(target=work)
        thread.start()
        assert not ended.wait(0.3)
        assert prepared_share(run) == 0
    thread.join(60)
    assert ended.is_set()


def test_without_test_triples():
    graph = make_graph(ROWS[:150], entities=40, relations=2)
    run = fake_run(graph, random_scorer(40, 2))
    prepare(run)
    assert prepared_share(run) == 1


def test_least_hours_are_those_of_all_scores():
    """A core does 7.5e10 multiply-adds a second: an hour is 2.7e14 of them."""
    run = load("umls-distmult")
    graph, width = run.graph, run.scorer.form.dimension
    operations = graph.num_entities * graph.num_entities * graph.num_relations * width
    assert least_hours(run) == pytest.approx(operations / 2.7e14)


def test_what_takes_hours_is_not_counted_unasked(run, monkeypatch):
    hours = least_hours(run)
    assert least_hours(run, 2 * 40) == pytest.approx(2 * hours)
    assert is_counted_unasked(run)
    monkeypatch.setattr(module, "UNASKED", hours / 2)
    assert not is_counted_unasked(run)
    prepare(run)
    assert is_counted_unasked(run)  # it is there
