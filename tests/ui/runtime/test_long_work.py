"""Work that goes to a worker process if it takes long and can be sent; else it stays."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.files.visitor import Visitor, working_for
from kgdash.progress import silent
from kgdash.runs.call import Call, Reading, read
from kgdash.runs.worker import NotSent
from kgdash.ui.runtime import long_work
from kgdash.ui.runtime.long_work import call_results, goes_out, result_of
from kgdash.ui.runtime.ticket import Asker
from tests.support import worker_calls
from tests.support.endless import Endless, GaveUpError


class Elsewhere:
    """Stands for the line: notes what is made there, and makes it at once."""

    workers, fails = 1, False

    def __init__(self):
        self.kinds = []

    def results(self, sent, kind, progress, placed, owner):
        self.kinds.append(kind)
        if self.fails:
            raise NotSent("TypeError")
        yield ("elsewhere", read(sent.content(), None)(progress))


@pytest.fixture
def elsewhere(monkeypatch):
    made = Elsewhere()
    monkeypatch.setattr(long_work, "line", lambda: made)
    monkeypatch.setattr(long_work, "LONG", -1.0)
    return made


def results(function, *arguments):
    return list(call_results(Call(function, *arguments), "page", silent, lambda place: None))


def test_what_takes_long_goes_out(elsewhere):
    assert results(worker_calls.name_result, "a") == [("elsewhere", "result of a")]
    assert elsewhere.kinds == ["page"]


def test_what_is_short_stays(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    assert results(worker_calls.name_result, "a") == ["result of a"]
    assert results(worker_calls.count_up, 3) == [0, 1, 2]
    assert not elsewhere.kinds


def test_readings_go_out_before_they_hold_python_here(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    call = Reading(worker_calls.rows_allowed, b"\0abc")
    found = list(call_results(call, "page", silent, lambda place: None))
    assert found == [("elsewhere", (b"\0abc", None))]
    elsewhere.workers = 0
    assert list(call_results(call, "page", silent, lambda place: None)) == [(b"\0abc", None)]


def test_what_nobody_looks_on_at_goes_out_for_its_visitor(elsewhere, monkeypatch):
    """Five accounts' tables of labels, made in threads of the server, kept others for 13 s."""
    asked = []
    made = elsewhere.results

    def noted(*arguments):
        asked.append(arguments[-1].owner)
        return made(*arguments)

    monkeypatch.setattr(elsewhere, "results", noted)
    with working_for(Visitor(folder="ada")):
        found = result_of(Reading(worker_calls.name_result, "a"))
    assert found == ("elsewhere", "result of a")
    assert asked == ["ada"]


def test_a_short_text_waits_for_nobody(elsewhere, monkeypatch):
    """Who handed in four large tables kept another's list of names waiting for two minutes."""
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    call = Reading(worker_calls.rows_allowed, b"abc")
    assert list(call_results(call, "page", silent, lambda place: None)) == [(b"abc", None)]
    assert not elsewhere.kinds


def test_preparations_go_out_before_they_compute_here(elsewhere, monkeypatch):
    """Threads of low priority that held Python kept pages waiting for 17 seconds."""
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    monkeypatch.setattr(long_work, "lowest_priority", lambda: pytest.fail("a thread that computes"))
    call = Call(worker_calls.name_result, "a")
    found = list(call_results(call, "preparation", silent, lambda place: None))
    assert found == [("elsewhere", "result of a")]
    assert elsewhere.kinds == ["preparation"]


def test_without_workers_all_stays(elsewhere):
    assert goes_out(Call(worker_calls.name_result, "a"))
    assert not goes_out(worker_calls.name_result)
    elsewhere.workers = 0
    assert not goes_out(Call(worker_calls.name_result, "a"))
    assert results(worker_calls.name_result, "a") == ["result of a"]
    assert not elsewhere.kinds


def test_what_can_not_be_sent_stays(elsewhere):
    def work(lock, progress):
        progress(0.0, 1.0)
        return lock.locked()

    assert results(work, threading.Lock()) == [False]
    assert not elsewhere.kinds


def test_what_can_not_come_back_is_computed_here(elsewhere):
    elsewhere.fails = True
    assert results(worker_calls.name_result, "a") == ["result of a"]
    assert elsewhere.kinds == ["page"]


def test_a_reading_that_can_not_come_back_is_not_made_here(elsewhere, monkeypatch):
    """A search whose notes were nested 600 deep was read anew where nothing bounds it."""
    elsewhere.fails = True
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    call = Reading(worker_calls.rows_allowed, b"\0")
    with pytest.raises(KgdashError, match="nested too deep"):
        list(call_results(call, "page", silent, lambda place: None))


def silence(goes_on: threading.Event, progress) -> str:
    """Say nothing until told to."""
    while not goes_on.wait(0.01):
        pass
    return "result"


class Silent:
    """A function that says nothing here, and is quick where it is sent; ``ended`` when it ended."""

    def __init__(self):
        self.endless = Endless()

    def __call__(self, progress):
        return self.endless()

    def __reduce__(self):
        return worker_calls.Quick, ()


class Waits(Silent):
    """One that waits where it can not be ended, and then reports until that ends it."""

    def __init__(self):
        self.goes_on, self.ended = threading.Event(), threading.Event()

    def __call__(self, progress):
        self.goes_on.wait()
        try:
            while True:
                progress(0.0, 1.0)
        except BaseException as error:
            if type(error) is not SystemExit:
                self.ended.set()
            raise


def test_what_says_nothing_goes_out_and_ends_here(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 0.3)
    function = Silent()
    assert results(function) == [("elsewhere", "quick")]
    assert function.endless.ended.wait(30)


def test_what_went_out_ends_at_its_next_report(elsewhere, monkeypatch):
    """Metrics wait for threads of their own, where nothing may be ended from outside."""
    monkeypatch.setattr(long_work, "LONG", 0.3)
    function = Waits()
    assert results(function) == [("elsewhere", "quick")]
    function.goes_on.set()
    assert function.ended.wait(30)


def test_what_says_nothing_ends_when_nobody_waits(elsewhere):
    elsewhere.workers, function = 0, Silent()

    def nobody(place):
        raise GaveUpError

    with pytest.raises(GaveUpError):
        list(call_results(Call(function), "page", silent, nobody))
    assert function.endless.ended.wait(30)


def test_a_visitor_begins_two_at_once_and_waits_while_wanted(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    goes_on = threading.Event()
    waits, quick = Call(silence, goes_on), Call(worker_calls.name_result, "a")

    def give_up(place):
        raise GaveUpError

    def begun(call, owner, placed=lambda place: None):
        return call_results(call, "page", silent, placed, Asker(owner))

    with ThreadPoolExecutor() as pool:
        here = [pool.submit(list, begun(waits, "bob")) for _ in range(2)]
        turns = long_work.turns_of("bob", "calls", long_work.AT_ONCE)
        while turns._value:
            time.sleep(0.01)
        with pytest.raises(GaveUpError):
            next(begun(quick, "bob", give_up))
        assert next(begun(quick, "cy", give_up)) == "result of a"
        goes_on.set()
        assert [each.result() for each in here] == [["result"], ["result"]]
    assert list(begun(quick, "bob", give_up)) == ["result of a"]


@pytest.mark.parametrize("says_nothing", [True, False])
def test_what_waits_in_line_holds_no_table(elsewhere, monkeypatch, tmp_path, says_nothing):
    """A run of 1.5 MB had the server take 3.2 GiB: its ranks once for each call in line."""
    function = worker_calls.read_for_long if says_nothing else worker_calls.read_and_tell
    table = np.arange(2**17)
    call, gone = Call(function, table, str(tmp_path / "ticks")).by_name(), weakref.ref(table)
    del table

    def waits(*_):
        end = time.monotonic() + 30
        while gone() is not None:
            assert time.monotonic() < end
            time.sleep(0.01)
        yield "sent"

    monkeypatch.setattr(elsewhere, "results", waits)
    gc.disable()
    try:
        assert list(call_results(call, "page", silent, lambda place: None)) == ["sent"]
    finally:
        gc.enable()


def test_who_waits_long_for_a_turn_goes_out(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 0.3)
    turns = long_work.turns_of("dee", "calls", long_work.AT_ONCE)
    for _ in range(long_work.AT_ONCE):
        turns.acquire()
    call = Call(worker_calls.name_result, "a")
    found = list(call_results(call, "page", silent, lambda place: None, Asker("dee")))
    assert found == [("elsewhere", "result of a")]
