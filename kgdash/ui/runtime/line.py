"""Who has a worker process next: one line for all sessions, preparations behind pages.

What takes longer than `LONG` seconds goes there; what is shorter stays in a thread, since asking
another process, and keeping the run there too, would cost more than it spares.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.event_log import Stopwatch, note
from kgdash.progress import Progress
from kgdash.runs.worker import Worker, WorkFailed

#: how many processes at most; 0: everything stays in threads
SETTING = "KGDASH_WORKERS"

#: seconds that work may take in a thread of the process that serves pages
LONG = 2.0

#: kinds of work, in the order in which they come first
KINDS = ("page", "preparation")

#: seconds between two looks, and that a process without work is kept for
_POLL, _IDLE = 0.2, 120.0


class _GaveWay(Exception):
    """Raised out of the report of work that lets what pages wait for come first."""


class Line:
    """Work that waits for a process, and the processes."""

    def __init__(self, workers: int, start: Callable[[], Worker] = Worker) -> None:
        """Start no process yet.

        :param workers: processes at most
        """
        self.workers = workers
        self._start, self._free = start, workers
        self._waiting: list[tuple[int, int]] = []
        self._idle: list[tuple[float, Worker]] = []
        self._changed = threading.Condition()
        self._numbers = count(1)

    def results(
        self, call: bytes, kind: str, progress: Progress, placed: Callable[[int], None]
    ) -> Iterator[Any]:
        """Wait for a process and yield what a call yields there.

        A preparation gives way when a page waits, and begins again behind it; what it counted by
        then is kept on disk.

        :param call: of `kgdash.runs.call.write`
        :param kind: of `KINDS`
        :param progress: called several times a second, also while waiting; may raise to end it
        :param placed: is told the place in line, from 1; 0 once it runs
        """
        watch, number = Stopwatch(), next(self._numbers)

        def tell(state: str, **more: Any) -> None:
            note("job", kind=kind, job=number, state=state, seconds=watch.seconds, **more)

        with self._changed:
            ahead = sum(rank <= KINDS.index(kind) for rank, _ in self._waiting)
        tell("queued", place=ahead + 1)
        state, more = "stopped", {}
        try:
            while state != "done":
                with self._turn(kind, number, progress, placed) as worker:
                    tell("started")
                    try:
                        yield from worker.results(call, self._giving_way(kind, progress))
                        state = "done"
                    except _GaveWay:
                        tell("gave way")
        except (KgdashError, WorkFailed) as error:
            state, more = "failed", {"error": type(error).__name__}
            raise
        finally:
            tell(state, **more)

    @property
    def waiting(self) -> int:
        """Return how much work waits for a process."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Return how much work has one."""
        return self.workers - self._free

    def _giving_way(self, kind: str, progress: Progress) -> Progress:
        rank = KINDS.index(kind)

        def report(done: float, total: float) -> None:
            progress(done, total)
            with self._changed:
                wanted = any(ticket[0] < rank for ticket in self._waiting)
            if wanted:
                raise _GaveWay

        return report

    @contextmanager
    def _turn(
        self, kind: str, number: int, progress: Progress, placed: Callable[[int], None]
    ) -> Iterator[Worker]:
        ticket = (KINDS.index(kind), number)
        with self._changed:
            self._waiting.append(ticket)
        try:
            while not self._is_next(ticket):
                placed(sorted(self._waiting).index(ticket) + 1)
                progress(0.0, 1.0)
                with self._changed:
                    self._changed.wait(_POLL)
        except BaseException:
            with self._changed:
                self._waiting.remove(ticket)
            raise
        placed(0)
        worker = None
        try:
            worker = self._worker()
            yield worker
        finally:
            with self._changed:
                if worker is not None and worker.is_alive():
                    self._idle.append((time.monotonic(), worker))
                    timer = threading.Timer(_IDLE + 1, self._close_idle)
                    timer.daemon = True
                    timer.start()
                self._free += 1
                self._changed.notify_all()

    def _is_next(self, ticket: tuple[int, int]) -> bool:
        """Take a free process for a ticket whose turn it is."""
        with self._changed:
            if ticket not in sorted(self._waiting)[: self._free]:
                return False
            self._waiting.remove(ticket)
            self._free -= 1
            return True

    def _worker(self) -> Worker:
        with self._changed:
            while self._idle:
                _, worker = self._idle.pop()
                if worker.is_alive():
                    return worker
        return self._start()

    def _close_idle(self) -> None:
        """End processes that had no work for a while: they hold memory."""
        with self._changed:
            old = [pair for pair in self._idle if time.monotonic() - pair[0] > _IDLE]
            self._idle = [pair for pair in self._idle if pair not in old]
        for _, worker in old:
            worker.close()


@cache
def _line(workers: int) -> Line:
    return Line(workers)


def line() -> Line:
    """Return the process's line, as long as ``$KGDASH_WORKERS`` says: 1 unless it is set."""
    text = os.environ.get(SETTING, "")
    return _line(int(text) if text.isascii() and text.isdigit() else 1)
