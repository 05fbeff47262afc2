"""Work that goes to a worker process if it takes long and can be sent; else it stays."""

import threading

import pytest

from kgdash.progress import silent
from kgdash.runs.call import Call, read
from kgdash.runs.worker import NotSent
from kgdash.ui.runtime import long_work
from kgdash.ui.runtime.long_work import call_results, goes_out
from tests.support import worker_calls
from tests.support.endless import GaveUpError


class Elsewhere:
    """Stands for the line: notes what is made there, and makes it at once."""

    workers, fails = 1, False

    def __init__(self):
        self.kinds = []

    def results(self, sent, kind, progress, placed, owner):
        self.kinds.append(kind)
        if self.fails:
            raise NotSent("TypeError")
        yield ("elsewhere", read(sent, None)(progress))


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


def test_a_visitor_begins_two_at_once_and_waits_while_wanted(elsewhere, monkeypatch):
    monkeypatch.setattr(long_work, "LONG", 1000.0)
    call = Call(worker_calls.count_up, 3)

    def begun(owner, placed=lambda place: None):
        return call_results(call, "page", silent, placed, owner)

    def give_up(place):
        raise GaveUpError

    here = [begun("bob"), begun("bob")]
    assert [next(each) for each in here] == [0, 0]
    with pytest.raises(GaveUpError):
        next(begun("bob", give_up))
    assert next(begun("cy", give_up)) == 0
    assert list(here[0]) == [1, 2]
    assert list(begun("bob", give_up)) == [0, 1, 2]
