"""The line for worker processes: who is next, told where, gives way, and leaves."""

import threading
import time

import pytest

from kgdash.errors import KgdashError
from kgdash.ui.runtime import line as module
from kgdash.ui.runtime.line import SETTING, Line, line

PATIENCE = 60


class Fake:
    """Stands for a worker: reports until the call's event is set, then yields its name."""

    made = 0

    def __init__(self):
        Fake.made += 1
        self.alive, self.closed = True, False

    def is_alive(self):
        return self.alive

    def close(self):
        self.alive, self.closed = False, True

    def results(self, call, progress):
        call.begun.set()
        call.times += 1
        while not call.go.wait(0.01):
            progress(1, 2)
        if call.refuses:
            raise KgdashError("no")
        yield call.name


class Asked:
    """A call, its thread, and what it was told."""

    def __init__(self, line, name, kind="page", refuses=False):
        self.name, self.refuses, self.times = name, refuses, 0
        self.begun, self.go, self.leave = (threading.Event() for _ in range(3))
        self.places, self.found, self.error = [], [], None
        self._line, self._kind = line, kind
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()
        wait_until(lambda: self.places)

    def _ask(self):
        try:
            for result in self._line.results(self, self._kind, self._report, self.places.append):
                self.found.append(result)
        except Exception as error:
            self.error = error

    def _report(self, done, total):
        if self.leave.is_set():
            raise InterruptedError

    def end(self):
        self.go.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def wait_until(met):
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def noted(monkeypatch):
    events = []
    monkeypatch.setattr(module, "note", lambda _, **fields: events.append(fields))
    return events


@pytest.fixture
def one(noted):
    Fake.made = 0
    return Line(1, Fake)


def test_one_after_another_and_everyone_is_told_the_place(one):
    first, second, third = (Asked(one, name) for name in "abc")
    assert first.places == [0]
    assert (second.places[-1], third.places[-1]) == (1, 2)
    assert (one.running, one.waiting) == (1, 2)
    first.end()
    wait_until(lambda: second.places[-1] == 0 and third.places[-1] == 1)
    second.end()
    third.end()
    assert [each.found for each in (first, second, third)] == [["a"], ["b"], ["c"]]
    assert (one.running, one.waiting) == (0, 0)
    assert Fake.made == 1


def test_as_many_at_once_as_there_are_processes(noted):
    two = Line(2, Fake)
    asked = [Asked(two, name) for name in "abc"]
    wait_until(lambda: [each.places[-1] for each in asked] == [0, 0, 1])
    for each in asked:
        each.end()


def test_who_leaves_the_line_makes_room(one):
    first, second, third = (Asked(one, name) for name in "abc")
    second.leave.set()
    second.thread.join(PATIENCE)
    assert isinstance(second.error, InterruptedError)
    wait_until(lambda: third.places[-1] == 1)
    first.leave.set()  # while it runs
    wait_until(lambda: third.places[-1] == 0)
    third.end()
    assert third.found == ["c"]
    assert not second.times


def test_a_preparation_gives_way_to_pages_and_goes_on_behind_them(one, noted):
    preparation = Asked(one, "all", "preparation")
    assert preparation.begun.wait(PATIENCE)
    page = Asked(one, "page")
    assert page.begun.wait(PATIENCE)
    wait_until(lambda: preparation.places[-1] == 1)
    other = Asked(one, "other", "preparation")
    wait_until(lambda: other.places[-1] == 2)
    page.end()
    wait_until(lambda: preparation.places[-1] == 0)
    preparation.end()
    other.end()
    assert (preparation.times, preparation.found) == (2, ["all"])
    queued = {fields["job"]: fields["place"] for fields in noted if fields["state"] == "queued"}
    assert queued == {1: 1, 2: 1, 3: 2}
    states = [fields["state"] for fields in noted if fields["job"] == 1]
    assert states == ["queued", "started", "gave way", "started", "done"]


def test_a_page_does_not_give_way_to_a_preparation(one):
    page = Asked(one, "page")
    preparation = Asked(one, "all", "preparation")
    time.sleep(0.1)
    assert page.times == 1
    assert preparation.places[-1] == 1
    page.end()
    preparation.end()


def test_a_refusal_and_a_stop_are_noted_and_free_the_process(one, noted):
    refused = Asked(one, "a", refuses=True)
    refused.end()
    assert str(refused.error) == "no"
    left = Asked(one, "b")
    left.leave.set()
    left.thread.join(PATIENCE)
    ends = [fields for fields in noted if fields["state"] in ("failed", "stopped", "done")]
    assert [(each["state"], each.get("error")) for each in ends] == [
        ("failed", "KgdashError"),
        ("stopped", None),
    ]
    assert one.running == 0


def test_a_process_that_died_is_replaced(one):
    first = Asked(one, "a")
    first.end()
    one._idle[0][1].alive = False
    second = Asked(one, "b")
    second.end()
    assert second.found == ["b"]
    assert Fake.made == 2


def test_a_process_without_work_is_ended(one, monkeypatch):
    monkeypatch.setattr(module, "_IDLE", -1.0)
    asked = Asked(one, "a")
    asked.end()
    wait_until(lambda: not one._idle)
    assert (one.running, one.waiting) == (0, 0)


@pytest.mark.parametrize(("text", "workers"), [("0", 0), ("3", 3), ("", 1), ("x", 1), ("-2", 1)])
def test_the_setting(monkeypatch, text, workers):
    monkeypatch.setenv(SETTING, text)
    assert line().workers == workers
