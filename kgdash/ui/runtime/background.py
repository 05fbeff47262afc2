"""A computation in a thread of its own, whose results improve step by step until it is done."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from kgdash.files.event_log import Stopwatch, note
from kgdash.progress import Progress

#: takes the progress to report to and the latest result so far (None at first); yields results
Steps = Callable[[Progress, Any], Iterable[Any]]

#: the part of what is left that must be done before the pace so far foretells the rest
_KNOWN_PACE = 0.1


class _Cancelled(Exception):
    """Raised out of the progress report of a computation that was asked to stop."""


class _State:
    """What the thread writes and others read."""

    def __init__(self, latest: Any) -> None:
        self.latest = latest
        self.error: BaseException | None = None
        self.progress = (0.0, 1.0)
        #: when, and at which share, progress was first reported
        self.since: tuple[float, float] | None = None
        self.cancel = threading.Event()
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.complete = False
        if latest is not None:
            self.ready.set()


class Job:
    """A running, stopped or finished computation.

    It ends at its next report of progress after `stop`, and when nobody refers to the job any more
    (the visitor is gone).
    """

    def __init__(self, steps: Steps, latest: Any = None, kind: str = "page") -> None:
        """Start at once.

        :param steps: what to compute
        :param latest: a result to go on from, if there is one
        :param kind: "page", "preparation" or "training", as events have it
        """
        self.started = time.monotonic()
        self._steps, self._kind = steps, kind
        self._state = _State(latest)
        # The thread does not refer to the job, so that it learns when the job is dropped.
        weakref.finalize(self, self._state.cancel.set)
        threading.Thread(target=_run, args=(steps, self._state, kind), daemon=True).start()

    @property
    def latest(self) -> Any:
        """The best result so far, or None."""
        return self._state.latest

    @property
    def error(self) -> BaseException | None:
        """What the computation raised, if it failed."""
        return self._state.error

    @property
    def status(self) -> str:
        """One of "running", "done" (``latest`` is the last result), "stopped", "failed"."""
        state = self._state
        if state.complete:
            return "done"
        if state.error is not None:
            return "failed"
        return "stopped" if state.cancel.is_set() else "running"

    @property
    def progress(self) -> tuple[float, float]:
        """The latest report: (done, total)."""
        return self._state.progress

    def share(self) -> float | None:
        """Return which part is done, in [0, 1]; None before the first report."""
        done, total = self._state.progress
        return min(done / max(total, 1e-9), 1.0) if self._state.since is not None else None

    def remaining(self) -> float | None:
        """Return the seconds left at the pace since the first report.

        None without a pace: before a tenth of what was left then is done.
        """
        share, since = self.share(), self._state.since
        if share is None or since is None or share - since[1] < _KNOWN_PACE * (1 - since[1]):
            return None
        return (time.monotonic() - since[0]) / (share - since[1]) * (1 - share)

    def wait_for_result(self, seconds: float) -> bool:
        """Wait until there is any result, or the computation ended; return whether so."""
        return self._state.ready.wait(seconds)

    def wait(self, seconds: float) -> bool:
        """Wait until the computation ended; return whether it has."""
        return self._state.ended.wait(max(0.0, seconds))

    def stop(self) -> None:
        """Ask the computation to end; what it yielded stays."""
        self._state.cancel.set()

    def again(self) -> Job:
        """Start the same computation, to go on from the latest result."""
        return Job(self._steps, self.latest, self._kind)


def running_jobs() -> int:
    """Return how many computations of all sessions run."""
    return len(_running)


def time_left(job: Job) -> str:
    """Say how long a job will take, to be put after a text; nothing while there is no pace."""
    left = job.remaining()
    if left is None:
        return ""
    return (
        f", about {max(left, 1):.0f} s left" if left < 120 else f", about {left / 60:.0f} min left"
    )


#: the states of the computations that run
_running: set[_State] = set()


def _run(steps: Steps, state: _State, kind: str) -> None:
    def report(done: float, total: float) -> None:
        if state.cancel.is_set():
            raise _Cancelled
        state.progress = (done, total)
        if state.since is None:
            state.since = (time.monotonic(), done / max(total, 1e-9))

    watch, ended, more = Stopwatch(), "done", {}
    _running.add(state)
    note("job", kind=kind, state="started")
    try:
        for result in steps(report, state.latest):
            state.latest = result
            state.ready.set()
        state.complete = True
    except _Cancelled:
        ended = "stopped"
    except BaseException as error:
        state.error = error
        ended, more = "failed", {"error": type(error).__name__}
    finally:
        _running.discard(state)
        note("job", kind=kind, state=ended, seconds=watch.seconds, **more)
        state.ready.set()
        state.ended.set()
