"""Calls as they are sent: runs and graphs by name, all else by value."""

import gc
import gzip
import shutil
import tracemalloc
import weakref
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files.visitor import NOBODY, Visitor, visitor
from kgdash.graph.datasets import load_dataset
from kgdash.progress import silent
from kgdash.runs import call
from kgdash.runs.bundled import DEMO
from kgdash.runs.call import Call, Origin, Reading, named, read, remember, write
from kgdash.runs.loading import load
from kgdash.runs.training import TrainingConfig, train
from kgdash.scoring import bilinear_forms
from kgdash.scoring.kernel_scorer import KernelScorer
from kgdash.scoring.pykeen_scorer import PyKEENScorer
from kgdash.studies.reliability.reliability_map import reliability_map
from tests.support import worker_calls
from tests.support.endless import Endless, GaveUpError, give_up
from tests.support.fakes import fake_run, make_graph, random_scorer


def never(*_):
    raise AssertionError("loaded, though it is at hand")


def forget(monkeypatch):
    """Have no run and no graph at hand."""
    for kept in ("_runs", "_graphs"):
        monkeypatch.setattr(call, kept, WeakValueDictionary())


@pytest.fixture
def run(monkeypatch):
    # Other tests of this process may have one of the same identity at hand.
    forget(monkeypatch)
    return remember(load("umls-distmult"), "umls-distmult", None)


def test_a_call_takes_its_progress_last():
    told = []

    def work(a, b, progress):
        progress(a, b)
        return a + b

    assert Call(work, 1, b=2)(lambda *at: told.append(at)) == 3
    assert told == [(1, 2)]


def test_by_name_arrays_stay_where_they_are_until_they_are_sent():
    """Ranks of eight runs would be there three times, while their comparison waits."""
    table = pd.DataFrame({"a": np.arange(1000), "b": np.ones(1000)})
    waits = Call(worker_calls.first_of, [table]).by_name()
    assert np.shares_memory(waits(silent)["a"], table["a"])
    elsewhere = read(waits.sent().content(), never)(silent)
    assert elsewhere.equals(table)
    assert not np.shares_memory(elsewhere["a"], table["a"])


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_was_sent_is_held_by_nobody(on_disk, monkeypatch, tmp_path):
    """Sixteen calls in line held 136 MB each, as they had been written."""
    folder = tmp_path if on_disk else tmp_path / "none"
    monkeypatch.setenv("KGDASH_CACHE", str(folder))
    values = np.arange(2**17)
    waits, gone = Call(worker_calls.first_of, [values]).by_name(), weakref.ref(values)
    tracemalloc.start()
    try:
        sent = waits.sent()
        del values
        assert gone() is None
        assert (tracemalloc.get_traced_memory()[0] < 2**17) == on_disk
    finally:
        tracemalloc.stop()
    for again in (waits.sent(), sent):
        assert np.array_equal(read(again.content(), never)(silent), np.arange(2**17))
    assert np.array_equal(waits(silent), np.arange(2**17))
    assert not list(tmp_path.iterdir())


def test_what_is_told_of_no_progress_ends_when_it_is_not_wanted(as_visitor):
    """Lambdas of pages took none: nothing could stop, or send, what took them long."""
    as_visitor(name="Ada", most_rows=7)
    assert read(write(Call(worker_calls.rows_allowed, b"a")), never)(silent) == (b"a", 7)
    endless = Endless()
    with pytest.raises(GaveUpError):
        Call(endless)(give_up)
    assert endless.ended.wait(60)


def test_a_call_has_the_bounds_of_who_asked_and_knows_nothing_else_of_them(as_visitor, tmp_path):
    """What datasets ship as found false was unknown on servers: no call could open it."""
    roots = (tmp_path,)
    as_visitor(name="Ada", folder="ada", roots=roots, most_rows=7, longest_label=9)
    calls = [Call(worker_calls.who_works), Call(worker_calls.who_works_at_each_step)]
    sent = [write(each) for each in calls]
    as_visitor(**vars(NOBODY))
    one, steps = (read(each, never) for each in sent)
    found = [one(silent)[2]]
    for who in steps(silent):
        found.append(who)
        assert visitor() == NOBODY
    assert found == [replace(NOBODY, roots=roots, most_rows=7, longest_label=9)] * 3


def test_a_reading_works_for_who_asked_wherever_it_is_made(as_visitor):
    as_visitor(name="Ada", most_rows=7)
    sent = write(Reading(worker_calls.rows_allowed, b"abc"))
    as_visitor(name="Bob", most_rows=9)
    assert read(sent, never)(silent) == (b"abc", 7)


@pytest.mark.parametrize(
    ("contents", "is_little"),
    [
        (["flügel\n".encode()], True),
        ([b"a" * 2**16, b"b"], True),
        ([b"a" * 2**16 + b"b"], False),
        ([b"a", b"a" * 2**17], False),
        ([gzip.compress(b"a" * 2**20)], False),
        ([b"PAR1\0"], False),
        ([], False),
        ([Path("a.tsv")], False),
        ([(b"a", b"b")], False),
    ],
)
def test_only_short_texts_are_little_to_read(contents, is_little):
    assert Reading(worker_calls.rows_allowed, *contents).is_little == is_little


@pytest.mark.parametrize("told", [[], [(1, 2)]])
def test_a_reading_is_told_of_progress_where_it_takes_it(told):
    found = []

    def quiet(a):
        return a

    def loud(a, progress):
        progress(1, 2)
        return a

    assert Reading(loud if told else quiet, 3)(lambda *at: found.append(at)) == 3
    assert found == told


def test_a_run_and_its_graph_are_only_named(run):
    sent = write(Call(run.ranks, "test", filter="none"))
    assert len(sent) < 1000
    again = read(sent, never)
    assert again._function.__self__ is run
    assert read(write([run.graph, run]), never) == [run.graph, run]


def test_a_run_that_is_not_at_hand_is_loaded_from_where_it_was(run, monkeypatch):
    sent = write([run, run.graph])
    asked = []
    forget(monkeypatch)
    found = read(sent, lambda origin: asked.append(origin) or run)
    assert found == [run, run.graph]
    assert asked == [Origin("umls-distmult", None, Visitor(), run.identity)] * 2


def test_it_is_loaded_as_who_opened_it_may(as_visitor, tmp_path, monkeypatch):
    folder = tmp_path / "root" / "mine"
    shutil.copytree(DEMO / "umls-distmult", folder)
    as_visitor(roots=(tmp_path / "root",))
    sent = write(remember(load(folder), str(folder), None))
    as_visitor(roots=())
    forget(monkeypatch)
    assert read(sent).name == "mine"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KgdashError, match="is not below a folder that may be opened here"):
        read(sent)


def test_it_is_scored_as_for_who_opened_it(as_visitor, tmp_path, monkeypatch):
    """TuckER's matrices are not made for a server's page, but its workers made them."""
    graph, folder = load_dataset("nations"), tmp_path / "few_weights"
    train(graph, TrainingConfig("TuckER", {"embedding_dim": 4}, epochs=1), folder)
    monkeypatch.setattr(bilinear_forms, "_FREE_SERVED", 0)
    monkeypatch.setattr(bilinear_forms, "_DENSEST_SERVED", 0)
    sent = []
    for place in (None, ""):
        as_visitor(folder=place, roots=(tmp_path,))
        sent.append(write(remember(load(folder), str(folder), None)))
        forget(monkeypatch)
    scorers = []
    for each in sent:
        scorers.append(type(read(each).scorer))
        forget(monkeypatch)
    assert scorers == [PyKEENScorer, KernelScorer]


def test_a_named_run_is_not_held_and_found_again(run, monkeypatch):
    other = remember(replace(run, name="other"), "umls-distmult", None)
    held, again = weakref.ref(other), named((other, "of it"))
    assert again()[0] is other
    del other
    gc.collect()
    assert held() is None
    with pytest.raises(KgdashError, match="umls-distmult was changed meanwhile"):
        again()
    assert named(run)() is run


def test_a_run_that_was_changed_is_refused(run, monkeypatch):
    origin = Origin("umls-distmult", None, None, ("another", "digest"))
    with pytest.raises(KgdashError, match="umls-distmult was changed meanwhile: open it anew"):
        origin.load()


def test_a_graph_comes_from_the_run_that_holds_it(run, tmp_path):
    """Not from another's run of the same graph, which may be gone or not theirs to name."""
    shutil.copytree(DEMO / "umls-transe", tmp_path / "bobs")
    other = remember(load(tmp_path / "bobs"), str(tmp_path / "bobs"), None)
    assert other.graph.digest == run.graph.digest
    assert b"bobs" not in write(run.graph)
    del other
    gc.collect()
    assert read(write(run.graph), never) == run.graph


def test_a_run_stays_at_hand_when_another_load_of_it_goes(run):
    again = remember(load("umls-distmult"), "umls-distmult", None)
    assert again is not run
    del again
    gc.collect()
    assert read(write([run, run.graph]), never) == [run, run.graph]


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
