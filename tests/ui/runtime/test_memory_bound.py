"""The process is measured: what is kept goes before it takes too much, and not again and again."""

import gc
import threading
from dataclasses import replace

import numpy as np
import pytest

from kgdash.ui.runtime import loaded_runs, memory_bound
from kgdash.ui.runtime.memory_bound import MemoryBound, memory_bounded
from kgdash.ui.runtime.result_cache import Memory
from kgdash.ui.runtime.short_memory import most_memory
from tests.support.fakes import fake_run, make_graph, random_scorer

MIB = 2**20


class Process:
    """A process of which some memory is in use, and some kept, which goes by at most 600 MiB."""

    def __init__(self, used: int, kept: int):
        self.used, self.kept, self.calls = used, kept, 0

    def has(self) -> int:
        return (self.used + self.kept) * MIB

    def let_go(self, bytes_: int) -> bool:
        self.calls += 1
        had, self.kept = self.kept, max(0, self.kept - min(600, bytes_ // MIB))
        return had > 0


@pytest.fixture
def bound(monkeypatch):
    def make(process: Process):
        monkeypatch.setattr(memory_bound, "own_memory", process.has)
        monkeypatch.setattr(memory_bound, "give_back_now", lambda: None)
        found = MemoryBound(process.let_go)

        def keep() -> int:
            """Keep it, and return how often something was let go of."""
            process.calls = 0
            found.keep(1536 * MIB)
            return process.calls

        return keep

    return make


def test_below_its_bound_nothing_goes(bound):
    process = Process(500, 1036)
    assert bound(process)() == 0
    assert process.kept == 1036


def test_above_it_goes_until_there_is_room(bound):
    process = Process(500, 1100)
    keep = bound(process)
    assert keep() == 1
    assert process.kept == 524  # 0.5 GiB below
    process.kept = 2100
    assert keep() == 3
    assert process.kept == 524
    process.kept = 1036
    assert keep() == 0
    process.kept = 1037
    assert keep() == 1


def test_what_is_in_use_is_not_asked_for_again_and_again(bound):
    """Pages of a graph of 4 GiB, or eight at once, would each load their run again."""
    process = Process(4000, 100)
    keep = bound(process)
    assert keep() == 1
    assert process.kept == 0
    process.kept = 512
    assert keep() == 0
    process.kept = 513
    assert keep() > 0
    process.used, process.kept = 300, 1000  # pages have ended
    assert keep() == 0
    process.kept = 1300
    assert keep() == 1


def test_one_page_lets_go_and_others_go_on(bound, monkeypatch):
    process = Process(500, 1200)
    keep = bound(process)
    entered, leave = threading.Event(), threading.Event()

    def give_back():
        entered.set()
        assert leave.wait(10)

    monkeypatch.setattr(memory_bound, "give_back_now", give_back)
    one = threading.Thread(target=keep)
    one.start()
    assert entered.wait(10)
    process.kept = 2000
    assert keep() == 0
    leave.set()
    one.join()


def test_a_page_that_fails_is_looked_at_too(monkeypatch, as_visitor):
    bounds = []
    monkeypatch.setattr(memory_bound._bound, "keep", bounds.append)
    with memory_bounded():
        pass
    as_visitor(name="ada", folder="a")
    with pytest.raises(ValueError, match="a page that fails"), memory_bounded():
        raise ValueError("a page that fails")
    assert bounds == [most_memory(""), most_memory("a")]


@pytest.fixture
def opened(monkeypatch, as_visitor):
    """Return what opens runs for visitors and keeps results; and which are kept."""
    monkeypatch.setattr(loaded_runs, "_opened", {})
    monkeypatch.setattr(loaded_runs, "_left", [])
    kept = Memory()
    monkeypatch.setattr(memory_bound, "memory", lambda: kept)
    monkeypatch.setattr(memory_bound, "held_bytes", lambda run: run.spec * MIB)
    runs = {}

    class Loader:
        def clear(self, name, *_):
            runs.pop(name)

    def open_run(owner, name, mebibytes=100, results=0):
        as_visitor(name=owner, folder=owner)
        graph = make_graph([(0, 0, 1)], entities=2)
        run = runs.setdefault(name, replace(fake_run(graph, random_scorer(2, 1)), spec=mebibytes))
        loaded_runs._note(Loader(), (name, None, ()), run)
        for number in range(results):
            kept.put((name, number), (run, np.zeros(10 * MIB, dtype=np.uint8)))
        return run

    return open_run, runs, lambda: sorted({key[0] for key in kept._kept})


def let_go(mebibytes):
    """Let go, and have gone what is left in circles."""
    assert memory_bound._let_go(mebibytes * MIB)
    gc.collect()


def test_what_one_opened_goes_before_what_others_did(opened, monkeypatch):
    """Who opened three small runs again and again had everybody's results made anew: 14 s."""
    open_run, runs, results = opened
    monkeypatch.setattr(memory_bound, "_STEP", 0)
    open_run("bob", "shared", 60, results=2)
    open_run("bob", "bob's", 90, results=2)
    open_run("eve", "shared", 60)
    for number in range(3):
        open_run("eve", f"eve's {number}", 250, results=1)
    open_run("bob", "bob's", 90)
    let_go(500)
    assert sorted(runs) == results() == ["bob's", "eve's 2", "shared"]
    let_go(100)
    assert sorted(runs) == results() == ["bob's", "shared"]
    let_go(100)
    assert sorted(runs) == results() == ["bob's"]
    let_go(100)  # the latest stays, but of its results half
    assert sorted(runs) == results() == ["bob's"]
    while memory_bound._let_go(100 * MIB):
        assert sorted(runs) == ["bob's"]
    assert not results()


def test_little_of_others_stays_where_the_latest_has_most(opened):
    """Six runs of a visitor, 1 MiB together, went for what one run of another's was too large."""
    open_run, runs, results = opened
    open_run("bob", "bob's", 1, results=1)
    for number in range(3):
        open_run("eve", f"eve's {number}", 250)
    let_go(570)
    for _ in range(2):
        assert (sorted(runs), results()) == (["bob's", "eve's 2"], ["bob's"])
        assert not memory_bound._let_go(70 * MIB)


def test_what_is_in_use_goes_before_what_others_found(opened):
    """Sixteen tabs that wait, of one visitor, had all results of others made anew: 45 s."""
    open_run, runs, results = opened
    open_run("bob", "bob's", 90, results=2)
    in_use = [open_run("eve", f"eve's {number}", 250) for number in range(3)]
    open_run("bob", "other", 60)
    for _ in range(3):
        let_go(600)
        assert (sorted(runs), results()) == (["bob's", "other"], ["bob's"])
    in_use.clear()
    let_go(100)
    assert (sorted(runs), results()) == (["other"], [])


def test_what_results_alone_hold_goes_with_them(opened):
    open_run, runs, results = opened
    open_run("bob", "gone", 300, results=1)
    open_run("bob", "bob's", 90, results=1)
    del loaded_runs._opened["gone", None, ()], runs["gone"]
    let_go(100)
    assert sorted(runs) == results() == ["bob's"]
