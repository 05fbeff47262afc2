"""Calls that may say nothing for long, on threads of their own that can be ended from outside."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import compress, starmap
from operator import is_, methodcaller
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, TypeVar

from kgdash.progress import Progress

T = TypeVar("T")

#: seconds between two reports, and between two requests to end, one of which may fall on a step of
#: Python's own that passes over it
_POLL = 0.1

#: modules in which no thread is ended: half an import, or a lock that nobody gives back, would
#: stay with the process
_WHOLE = (
    "importlib",
    "_frozen_importlib",
    "logging",
    "numba",
    "threading",
    "kgdash.files.lock",
    "kgdash.files.turns",
)

#: held by who looks what threads are in
_one_looks = threading.Lock()


def python_call(make: Callable[[], T], progress: Progress) -> T:
    """Return ``make()``; where the progress raises, ``make`` ends too, within a step of Python's.

    Threads that nobody waits for any more would go on for a minute each, and as many as somebody
    likes to begin would keep all others from Python.

    :param make: takes its time in steps of Python's, none of which is long
    :param progress: called with (0, 1) while it takes; may raise to cancel
    """
    (made,) = results_of(lambda: iter((make(),)), lambda: progress(0.0, 1.0))
    return made


def results_of(
    make: Callable[[], Iterator[T]],
    waiting: Callable[[], None],
    ended: Callable[[], None] = lambda: None,
) -> Iterator[T]:
    """Yield what another thread makes, as it comes; who goes away, or raises, ends the thread.

    :param make: takes its time in steps of Python's
    :param waiting: called several times a second while nothing comes; may raise
    :param ended: called when the thread has ended, which may be long after it was asked to
    """
    told: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def work() -> None:
        try:
            for result in make():
                told.put(("result", result))
            told.put(("end", None))
        except BaseException as error:
            if is_wanted:  # what nobody takes would hold all that it was raised through
                told.put(("error", error))

    thread, kind, is_wanted = EndableThread(work), "result", True
    thread.start()
    try:
        while kind == "result":
            try:
                kind, value = told.get(timeout=_POLL)
            except Empty:
                waiting()
                continue
            if kind == "error":
                raise value
            if kind == "result":
                yield value
    finally:
        if kind == "result":
            is_wanted = False
            thread.end(ended)
        else:
            thread.join()
            ended()


class EndableThread(threading.Thread):
    """A thread that can be ended from outside, within a step of Python's."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(daemon=True, name="kgdash-python-call")
        self._work, self._guard, self._runs = work, threading.Lock(), True

    def run(self) -> None:
        """Do the work."""
        with contextlib.suppress(SystemExit):
            self._work()
        with self._guard:  # from here on the number may be another thread's
            self._runs = False

    def end(self, ended: Callable[[], None] = lambda: None) -> None:
        """Have SystemExit raised in it, which no thread tells of, as soon as that harms nothing.

        :param ended: called once it has ended, on another thread if that takes a while
        """
        if self._end():
            ended()
        else:
            threading.Thread(target=self._end_later, args=(ended,), daemon=True).start()

    def _end_later(self, ended: Callable[[], None]) -> None:
        while not self._end():
            self.join(_POLL)
        ended()

    def _end(self) -> bool:
        """Ask it to end if it may end where it is; return whether it has."""
        with self._guard:
            # One that was ended between two steps of `run` has gone without saying so.
            if self._runs and self.ident is not None and self.is_alive():
                with _looking():
                    frame = sys._current_frames().get(self.ident)
                    if _may_end(frame):
                        _end_in(self.ident, frame)
                return False
        return True


@contextmanager
def _looking() -> Iterator[None]:
    """Look what threads are in.

    Python holds a lock there that each start of a thread takes, holding Python: if it collected
    garbage meanwhile, and ran a finalizer that lets others go on, all threads would wait for ever.
    """
    with _one_looks:
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()


def _end_in(thread: int, frame: FrameType | None) -> None:
    """Have SystemExit raised in a thread if it is in that frame still.

    All of it is one step of Python's. Between two, the thread may come to where it must not end,
    and would: a processor that many share has made that hundredth of a millisecond long enough.
    """
    asked = (ctypes.c_ulong(thread), ctypes.py_object(SystemExit))
    ask = ctypes.pythonapi.PyThreadState_SetAsyncExc
    now = map(methodcaller("get", thread), starmap(sys._current_frames, [()]))
    deque(starmap(ask, compress([asked], map(partial(is_, frame), now))), maxlen=0)


def _may_end(frame: FrameType | None) -> bool:
    """Tell whether a thread is in nothing that has to be whole."""
    while frame is not None and frame.f_code is not EndableThread.run.__code__:
        if frame.f_globals.get("__name__", "").startswith(_WHOLE):
            return False
        frame = frame.f_back
    return True
