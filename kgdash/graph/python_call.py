"""A long call that reports no progress, on a thread of its own that ends with who waits for it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from kgdash.progress import Progress

T = TypeVar("T")

#: seconds between two reports, and how often it is asked to end, which may fall on a step of
#: Python's own that passes over it
_POLL, _TRIES = 0.1, 20


def python_call(make: Callable[[], T], progress: Progress) -> T:
    """Return ``make()``; where the progress raises, ``make`` ends too, within a step of Python's.

    Threads that nobody waits for any more would go on for a minute each, and as many as somebody
    likes to begin would keep all others from Python.

    :param make: takes its time in steps of Python's, none of which is long
    :param progress: called with (0, 1) while it takes; may raise to cancel
    """
    call = _Call(make)
    call.start()
    try:
        while not call.ended.wait(_POLL):
            progress(0.0, 1.0)
    except BaseException:
        call.end()
        raise
    return call.result()


class _Call(threading.Thread, Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        super().__init__(daemon=True, name="kgdash-python-call")
        self.ended = threading.Event()
        self._make, self._guard, self._runs = make, threading.Lock(), True
        self._made: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._made.append(self._make())
        except BaseException as error:
            self._error = error
        with self._guard:  # from here on the number may be another thread's
            self._runs = False
        self.ended.set()

    def end(self) -> None:
        """Raise SystemExit in it, which no thread tells of."""
        for _ in range(_TRIES):
            with self._guard:
                # One that was ended between two steps of `run` has gone without saying so.
                if self._runs and self.ident is not None and self.is_alive():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self.ident), ctypes.py_object(SystemExit)
                    )
            if self.ended.wait(_POLL):
                return

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._made[0]
