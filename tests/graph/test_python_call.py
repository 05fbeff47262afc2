"""A long call of Python's ends when nobody waits for it any more."""

import threading
import time

import pytest

from kgdash.graph import python_call as module
from kgdash.graph.python_call import python_call
from kgdash.progress import silent
from tests.support.endless import GaveUpError, give_up

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


def test_another_thread_that_has_the_number_is_not_ended(monkeypatch):
    """A call that was ended between two steps of its own could not say that it is over."""
    call = module._Call(lambda: 7)
    call.start()
    call.join()
    call._runs = True
    ended = []
    monkeypatch.setattr(
        module.ctypes.pythonapi, "PyThreadState_SetAsyncExc", lambda *found: ended.append(found)
    )
    call.end()
    assert not ended
