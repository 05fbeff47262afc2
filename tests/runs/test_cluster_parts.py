"""Tables filled by others: in any parts and order the same; what came before a stop is kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.files import row_table
from kgdash.files import table_cache as store
from kgdash.graph import FILTERS
from kgdash.runs import cluster_parts
from kgdash.runs.preparation import prepare, prepared_share
from tests.support.cluster_fakes import FakeHelpers
from tests.support.fakes import array, fake_run, make_graph, random_scorer, worlds

ROWS = np.unique(np.random.default_rng(3).integers(0, (40, 3, 40), (200, 3)), axis=0)
GRAPH = make_graph(ROWS[:150], ROWS[150:170], ROWS[170:], 40, 3)


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(cluster_parts, "_SCORES_BY_ROWS", 40 * 3 * 3)
    monkeypatch.setattr(row_table, "_LEAST", 1e-9)
    monkeypatch.setattr(row_table, "_TIMES", 0)
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
    return fake_run(GRAPH, random_scorer(40, 3))


@given(worlds(), st.sampled_from(list(FILTERS)), st.integers(1, 4))
def test_any_parts_in_any_order_give_what_one_process_counts(world, filter, threads):
    scorer, splits, evaluated = world
    graph = make_graph(*splits, scorer.num_entities, scorer.num_relations)
    alone, rows = fake_run(graph, scorer), array(evaluated)
    helped = replace(alone, helpers=FakeHelpers(alone, threads, threads))
    sides = ("head", "tail", "relation")
    for way in (
        lambda run: run.relik(triples=rows),
        lambda run: run.ranks(triples=rows, filter=filter, sides=sides),
    ):
        pd.testing.assert_frame_equal(way(helped), way(alone))
    if len(graph.all_triples):
        known = graph.all_triples
        found = helped.relik(triples=known)
        pd.testing.assert_frame_equal(found, alone.relik(triples=known))


def test_what_came_before_a_stop_is_kept_and_only_the_rest_asked_for(run):
    few = FakeHelpers(run, most=38)
    with pytest.raises(KeyboardInterrupt):
        prepare(replace(run, helpers=few))
    assert 0.1 < (share := prepared_share(replace(run, helpers=None))) < 0.9
    again = FakeHelpers(run)
    prepare(replace(run, helpers=again))
    asked = {(part.kind, part.side, int(row)) for part in again.parts for row in part.rows}
    done = {(part.kind, part.side, int(row)) for part in few.parts for row in part.rows}
    assert len(done) > share * len(ROWS)
    assert not asked & done
    run.scorer.asked.clear()
    expected = fake_run(GRAPH, random_scorer(40, 3))
    pd.testing.assert_frame_equal(
        replace(run, helpers=None).relik(triples=ROWS), expected.relik(triples=ROWS)
    )
    assert run.scorer.asked == []


def test_where_all_is_counted_nobody_is_asked(run):
    prepare(run)
    helpers = FakeHelpers(run, most=0)
    helped = replace(run, helpers=helpers)
    prepare(helped)
    helped.ranks()
    helped.relik()
    assert helpers.parts == []
