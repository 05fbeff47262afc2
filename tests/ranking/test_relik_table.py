"""ReliK anchor by anchor: the same counts in whatever order and parts they are asked for."""

import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.files import row_table
from kgdash.files import table_cache as store
from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.turns import first_in_line
from kgdash.progress import silent
from kgdash.ranking import relik_table
from kgdash.ranking.relik_exact import relik_exact
from kgdash.ranking.relik_table import COLUMNS, ReliKTable
from tests.support.fakes import fake_run, make_graph, random_scorer, worlds
from tests.support.paths import ROOT


def table_of(scorer, graph, name="t") -> ReliKTable:
    rows = RowTable({"name": name}, COLUMNS, len(graph.all_triples), {"kind": "relik"})
    return ReliKTable(scorer, graph, rows)


def count(table: ReliKTable, rows) -> pd.DataFrame:
    rows = np.asarray(rows)
    for _ in table.count(table.missing(rows), silent):
        pass
    return table.counts(rows)


@given(worlds(splits=1), st.data())
@settings(max_examples=40)
def test_any_parts_in_any_order_give_the_rows_of_all_at_once(world, data):
    scorer, (known,), more = world
    graph = make_graph(known + more, (), (), scorer.num_entities, scorer.num_relations)
    every = np.arange(len(graph.all_triples))
    expected = relik_exact(scorer, graph.all_triples, graph.known())
    table = table_of(scorer, graph, str(id(world)))
    part = st.lists(st.sampled_from(every.tolist()), min_size=1)
    for rows in data.draw(st.lists(part, max_size=4)):
        found = count(table, rows)
        pd.testing.assert_frame_equal(found, expected.iloc[rows].reset_index(drop=True))
    pd.testing.assert_frame_equal(count(table, every), expected)


@pytest.mark.parametrize("name", ["umls-distmult", "umls-rotate", "umls-conve"])
def test_bundled_runs(bundled, name, monkeypatch):
    monkeypatch.setattr(relik_table, "_LEAST", 6210 * 20)
    run = bundled(name)
    expected = relik_exact(run.scorer, run.graph.all_triples, run.graph.known())
    table = table_of(run.scorer, run.graph, name)
    rng = np.random.default_rng(0)
    for size in (3, 40, 500):
        rows = rng.choice(len(expected), size)
        pd.testing.assert_frame_equal(
            count(table, rows), expected.iloc[rows].reset_index(drop=True)
        )
    pd.testing.assert_frame_equal(count(table, np.arange(len(expected))), expected)


GRAPH = make_graph([(0, 0, 1), (0, 1, 2), (3, 0, 1), (4, 1, 4)], [(2, 0, 0)], (), 5, 2)


class TestAnchors:
    def test_an_anchor_is_counted_once_for_all_its_triples(self):
        scorer = random_scorer(5, 2)
        table = table_of(scorer, GRAPH)
        count(table, [0])  # (0, 0, 1): around head 0 and tail 1
        assert table.missing(np.array([0])).entity.size == 0
        found = table.counts(np.arange(5))
        assert (found["head_greater"] != MISSING).tolist() == [True, True, False, False, False]
        assert (found["tail_greater"] != MISSING).tolist() == [True, False, False, True, False]
        left = table.missing(np.arange(5))
        assert sorted(left.of(0).tolist()) == [2, 3, 4]
        assert sorted(left.of(1).tolist()) == [0, 2, 4]
        asked = len(scorer.asked)
        count(table, [0])
        assert len(scorer.asked) == asked

    def test_heads_and_tails_take_turns(self):
        rng = np.random.default_rng(1)
        graph = make_graph(rng.integers(0, (50, 3, 20), (400, 3)), (), (), 50, 3)
        found = table_of(random_scorer(50, 3), graph).missing(np.arange(len(graph.all_triples)))
        heads = (found.side == 0).cumsum()
        total = heads[-1]
        share = heads / (np.arange(len(heads)) + 1)
        assert abs(share[10:] - total / len(heads)).max() < 0.1
        assert not (np.diff(found.of(0)) > 0).all(), "in random order"


def test_stopped_it_keeps_what_was_yielded_and_goes_on_there(monkeypatch):
    monkeypatch.setattr(relik_table, "_LEAST", 1)
    monkeypatch.setattr(row_table, "_LEAST", 0)
    monkeypatch.setattr(row_table, "_TIMES", 0)  # one anchor at a time
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    scorer = random_scorer(5, 2)
    first, every = table_of(scorer, GRAPH), np.arange(5)
    anchors = first.missing(every)
    steps = first.count(anchors, silent)
    assert [next(steps), next(steps), next(steps)] == [1, 2, 3]
    steps.close()
    again = table_of(scorer, GRAPH)
    left = again.missing(every)
    assert len(left.entity) == len(anchors.entity) - 3
    expected = relik_exact(scorer, GRAPH.all_triples, GRAPH.known())
    pd.testing.assert_frame_equal(count(again, every), expected)


def test_progress_tells_of_anchors():
    table, told = table_of(random_scorer(5, 2), GRAPH), []
    anchors = table.missing(np.arange(5))
    for _ in table.count(anchors, lambda done, total: told.append((done, total))):
        pass
    assert told[-1] == (8, 8)
    assert told == sorted(told)


def test_it_gives_way():
    table, left = table_of(random_scorer(5, 2), GRAPH), threading.Event()

    def work():
        for _ in table.count(table.missing(np.arange(5)), silent, gives_way=True):
            pass
        left.set()

    with first_in_line():
        thread = threading.Thread(target=work)
        thread.start()
        assert not left.wait(0.3)
        assert table.table.filled("head_greater") == 0
    thread.join(60)
    assert left.is_set()
    assert table.table.filled("head_greater") == 1


TWO = """
import sys
import numpy as np
import kgdash
from kgdash.files import row_table, table_cache as store
from kgdash.ranking import relik_table
store._WORTH_KEEPING = -1
relik_table._LEAST = 6210 * 8
row_table._LEAST = row_table._TIMES = 0.02
run = kgdash.load("umls-distmult")
counted, own = 0, relik_table.count_negatives
def counting(scorer, triples, known, side, progress):
    global counted
    counted += len(np.unique(triples[:, 0 if side == "head" else 2]))
    return own(scorer, triples, known, side, progress)
relik_table.count_negatives = counting
rng = np.random.default_rng(int(sys.argv[1]))
for size in (5, 50, 200, 1000):
    run.relik(triples=rng.choice(run.graph.all_triples, size))
run.relik(triples=run.graph.all_triples)
print(counted)
"""


def test_two_processes_share_the_rows_and_count_none_twice(bundled):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(seed)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2)
    ]
    shares = [int(process.communicate(timeout=240)[0]) for process in processes]
    run = bundled("umls-distmult")
    triples = run.graph.all_triples
    assert sum(shares) == len(np.unique(triples[:, 0])) + len(np.unique(triples[:, 2]))
    again = fake_run(run.graph, random_scorer(2, 2))
    object.__setattr__(again, "weights_digest", run.weights_digest)
    found = again.exact_tables.relik.counts(np.arange(len(triples)))
    expected = relik_exact(run.scorer, triples, run.graph.known())
    columns = ["head", "relation", "tail", *COLUMNS]
    pd.testing.assert_frame_equal(found[columns], expected[columns])
