"""Calls as they are sent: runs and graphs by name, all else by value."""

from dataclasses import replace

import numpy as np
import pytest

from kgdash.progress import silent
from kgdash.runs import call
from kgdash.runs.call import Call, identity, read, remember, write
from kgdash.runs.loading import load
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.support.fakes import fake_run, make_graph, random_scorer


def never(*_):
    raise AssertionError("loaded, though it is at hand")


@pytest.fixture
def run():
    return remember(load("umls-distmult"), "umls-distmult", None)


def test_a_call_takes_its_progress_last():
    told = []

    def work(a, b, progress):
        progress(a, b)
        return a + b

    assert Call(work, 1, b=2)(lambda *at: told.append(at)) == 3
    assert told == [(1, 2)]


def test_a_run_and_its_graph_are_only_named(run):
    sent = write(Call(run.ranks, "test", filter="none"))
    assert len(sent) < 1000
    again = read(sent, never)
    assert again._function.__self__ is run
    assert read(write([run.graph, run]), never) == [run.graph, run]


def test_a_run_that_is_not_at_hand_is_loaded_from_where_it_was(run, monkeypatch):
    sent = write(run)
    asked = []
    monkeypatch.setattr(call, "_runs", {})
    found = read(sent, lambda *origin: asked.append(origin) or run)
    assert found is run
    assert asked == [("umls-distmult", None, identity(run))]


def test_a_run_that_differs_in_names_alone_is_another(run, monkeypatch):
    other = replace(run, name="other", notes=("a note",))
    assert other.digest == run.digest
    assert read(write(run), never).name == "umls-distmult"
    remember(other, "folder/other", None)
    assert [each.name for each in read(write([other, run]), never)] == ["other", "umls-distmult"]
    labelled = replace(run.graph, entity_labels=tuple(f"secret {e}" for e in run.graph.entities))
    assert labelled.digest == run.graph.digest
    # Nobody remembers it, so it is sent as it is.
    assert read(write(labelled), never).entity_labels == labelled.entity_labels


def test_what_hangs_on_a_run_comes_back_with_it(run):
    map_ = reliability_map(run)
    again = read(write(map_), never)
    assert again.run is run
    assert np.array_equal(again.relik["relik"], map_.relik["relik"])


def test_a_function_of_a_page_can_not_be_sent(run):
    with pytest.raises(Exception, match="pickle"):
        write(Call(lambda progress: None))


def test_an_unknown_run_is_sent_whole():
    graph = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)])
    whole = fake_run(graph, random_scorer(3, 2))
    again = read(write(Call(whole.ranks)), never)
    assert again(silent).equals(whole.ranks())
