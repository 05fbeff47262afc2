"""A long call of Python's ends when nobody waits for it any more."""

import gc
import importlib
import logging
import sys
import threading
import time

import pytest

from kgdash.files.turns import first_in_line, others_first
from kgdash.graph import python_call as module
from kgdash.graph.python_call import EndableThread, python_call, results_of
from kgdash.progress import silent
from tests.support.endless import Endless, GaveUpError, give_up

NAME = "kgdash-python-call"


def test_what_is_made_is_returned_and_what_is_raised_comes_out():
    assert python_call(lambda: 7, silent) == 7
    with pytest.raises(ZeroDivisionError):
        python_call(lambda: 1 // 0, silent)


def test_a_call_that_nobody_waits_for_ends():
    steps = [0]

    def for_ever() -> None:
        while True:
            steps[0] += 1

    with pytest.raises(GaveUpError):
        python_call(for_ever, give_up)
    end = time.monotonic() + 30
    while any(thread.name == NAME for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert steps[0]


def test_results_come_one_by_one_and_who_goes_away_ends_the_rest():
    endless, ended = Endless(), threading.Event()

    def make():
        yield 1
        yield 2
        endless()

    results = results_of(make, lambda: None, ended.set)
    assert [next(results), next(results)] == [1, 2]
    assert not ended.is_set()
    results.close()
    assert ended.wait(30)
    assert endless.ended.is_set()


def test_an_import_is_not_ended_before_it_is_whole(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text(
        "import time\nfor _ in range(40):\n    time.sleep(0.01)\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    endless, ended = Endless(), threading.Event()

    def work():
        importlib.import_module("slow_to_import")
        endless()

    thread = EndableThread(work)
    thread.start()
    while "slow_to_import" not in sys.modules:
        time.sleep(0.001)
    thread.end(ended.set)
    assert ended.wait(30)
    assert sys.modules.pop("slow_to_import").whole
    assert endless.ended.is_set()


def test_a_line_of_the_log_is_written_whole():
    """Else its lock would stay with all who write one."""
    endless, ended, log = Endless(), threading.Event(), logging.Handler()
    assert log.lock is not None

    def work():
        log.acquire()
        log.release()
        endless()

    log.acquire()
    thread = EndableThread(work)
    thread.start()
    while sys._current_frames()[thread.ident].f_code is not logging.Handler.acquire.__code__:
        time.sleep(0.001)
    thread.end(ended.set)
    log.release()
    assert ended.wait(30)
    assert log.lock.acquire(timeout=1)
    assert endless.ended.is_set()


def test_another_thread_that_has_the_number_is_not_ended(monkeypatch):
    """A call that was ended between two steps of its own could not say that it is over."""
    call = EndableThread(lambda: None)
    call.start()
    call.join()
    call._runs = True
    ended = []
    monkeypatch.setattr(
        module.ctypes.pythonapi, "PyThreadState_SetAsyncExc", lambda *found: ended.append(found)
    )
    call.end()
    assert not ended


def test_no_garbage_is_collected_while_frames_are_looked_up(monkeypatch):
    """A finalizer that ran there let go of Python: a server's threads waited for each other."""
    look, found, endless = sys._current_frames, [], Endless()

    def current_frames():
        found.append(gc.isenabled())
        return look()

    monkeypatch.setattr(sys, "_current_frames", current_frames)
    thread = EndableThread(endless)
    thread.start()
    thread.end()
    assert endless.ended.wait(30)
    assert found
    assert not any(found)
    assert gc.isenabled()


def test_whoever_has_come_first_in_line_leaves_it():
    """A count that stays up would keep all preparations waiting."""
    end_those_who_come_first(40)


def test_who_goes_on_while_it_is_looked_at_is_not_ended_where_it_has_come(monkeypatch):
    """On a machine with much to do, the looking thread has to let others go on at any step."""
    may_end, looks = module._may_end, []

    def slow_to_tell(frame):
        may = may_end(frame)
        time.sleep(0.002 if len(looks) % 2 else 0)
        looks.append(may)
        return may

    monkeypatch.setattr(module, "_may_end", slow_to_tell)
    monkeypatch.setattr(module, "_POLL", 0.01)
    end_those_who_come_first(10)
    assert any(looks)


def end_those_who_come_first(times):
    def work():
        while True:
            with first_in_line():
                pass

    for _ in range(times):
        thread = EndableThread(work)
        thread.start()
        thread.end()
        thread.join(30)
        assert not thread.is_alive()
        assert not others_first()
