"""A computation beside the page, whose results improve step by step until it is done.

It has a thread of its own; a `Call` that takes long goes on in a worker process.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterable
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.event_log import Stopwatch, note
from kgdash.files.visitor import visitor
from kgdash.progress import Progress, duration_text
from kgdash.runs.call import Call
from kgdash.ui.runtime.held import graphs_in
from kgdash.ui.runtime.long_work import call_results, goes_out
from kgdash.ui.runtime.ticket import Asker

#: takes the progress to report to and the latest result so far (None at first); yields results
Steps = Callable[[Progress, Any], Iterable[Any]]

#: the part of what is left that must be done before the pace so far foretells the rest
_KNOWN_PACE = 0.1

#: computations of one visitor that are over and still hold what they found, and of what: a run
_HELD = 4

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


class _Cancelled(Exception):
    """Raised out of the progress report of a computation that was asked to stop."""


class _State:
    """What the thread writes and others read."""

    def __init__(self, steps: Steps | Call, latest: Any) -> None:
        #: none once complete, refused or let go: sessions keep jobs, which then need no run
        self.steps: Steps | Call | None = steps
        self.latest = latest
        self.asker = Asker(visitor().owner)
        self.error: BaseException | None = None
        self.progress = (0.0, 1.0)
        #: when, and at which share, progress was first reported
        self.since: tuple[float, float] | None = None
        self.cancel = threading.Event()
        #: what it is refused by, if it is not just asked to end
        self.refusal: KgdashError | None = None
        self.ready = threading.Event()
        self.ended = threading.Event()
        self.complete = self.is_nothing = False
        #: in the line for a process, from 1; 0 unless it waits there
        self.place = 0
        if latest is not None:
            self.ready.set()

    def end(self) -> None:
        """Ask the thread to end, which counts for nobody until it does."""
        _end(self.asker, self.cancel)


def _end(asker: Asker, cancel: threading.Event) -> None:
    asker.leaves = True
    cancel.set()


class Job:
    """A running, stopped or finished computation.

    It ends at its next report of progress after `stop`, and when nobody refers to the job any more
    (the visitor is gone).
    """

    def __init__(
        self,
        steps: Steps | Call,
        latest: Any = None,
        kind: str = "page",
        finished: Callable[[Any], None] = lambda result: None,
    ) -> None:
        """Start at once.

        :param steps: what to compute; a call may go on in another process
        :param latest: a result to go on from, if there is one
        :param kind: "page", "preparation" or "training", as events have it
        :param finished: takes the last result, on the job's thread
        """
        self.started = time.monotonic()
        self._kind, self._finished = kind, finished
        if goes_out(steps):  # it may wait in line, in each of many tabs, and then holds no run
            steps = steps.by_name()
        self._state = _State(steps, latest)
        # The thread does not refer to the job, so that it learns when the job is dropped.
        weakref.finalize(self, _end, self._state.asker, self._state.cancel)
        work = (self._state, kind, finished)
        threading.Thread(target=_run, args=work, daemon=True).start()

    @property
    def latest(self) -> Any:
        """The best result so far; None before the first, and where it was let go of."""
        return self._state.latest

    @property
    def is_nothing(self) -> bool:
        """Whether it is done, and None is what was found."""
        return self._state.is_nothing

    @property
    def owner(self) -> str:
        """The folder of who asked for it; "" of nobody in particular."""
        return self._state.asker.owner

    @property
    def kind(self) -> str:
        """One of "page", "preparation", "training"."""
        return self._kind

    def hand_over(self, owner: str) -> None:
        """Count it from now on for another visitor, who waits for it, too."""
        self._state.asker.owner = owner

    def refuse(self, error: KgdashError) -> None:
        """End it as failed."""
        self._state.refusal = error
        self._state.end()

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

    @property
    def place(self) -> int:
        """The place in the line for a worker process, from 1; 0 unless it waits there."""
        return self._state.place

    def share(self) -> float | None:
        """Return which part is done, in [0, 1]; None before the first report."""
        done, total = self._state.progress
        return min(done / max(total, 1e-9), 1.0) if self._state.since is not None else None

    def remaining(self) -> float | None:
        """Return the seconds left at the pace since the first report.

        None without a pace: before a tenth of what was left then is done.
        """
        share, since = self.share(), self._state.since
        if share is None or since is None:
            return None
        done = share - since[1]
        if done <= 0 or done < _KNOWN_PACE * (1 - since[1]):
            return None
        return (time.monotonic() - since[0]) / done * (1 - share)

    def wait_for_result(self, seconds: float) -> bool:
        """Wait until there is any result, or the computation ended; return whether so."""
        return self._state.ready.wait(seconds)

    def wait(self, seconds: float) -> bool:
        """Wait until the computation ended; return whether it has."""
        return self._state.ended.wait(max(0.0, seconds))

    def stop(self) -> None:
        """Ask the computation to end; what it yielded stays."""
        self._state.end()

    def again(self) -> Job:
        """Start the same computation, to go on from the latest result; not what is over."""
        steps = self._state.steps
        return self if steps is None else Job(steps, self.latest, self._kind, self._finished)


def running_jobs() -> int:
    """Return how many computations of all sessions run, and do not wait in line."""
    return sum(not state.place for state in list(_running))


def time_left(job: Job) -> str:
    """Say how long a job will take, to be put after a text; nothing while there is no pace.

    Of one that waits for a worker process, its place in line.
    """
    if job.place:
        return f", {ordinal(job.place)} in line"
    left = job.remaining()
    return "" if left is None else f", about {duration_text(left)} left"


def ordinal(number: int) -> str:
    """Write a place: 1st, 2nd, 11th."""
    last = 0 if number // 10 % 10 == 1 else number % 10
    return f"{number:,}{_ENDINGS.get(last, 'th')}"


#: the states of the computations that run
_running: set[_State] = set()


#: those that are over, the latest last
_over: list[weakref.ref[_State]] = []
_guard = threading.Lock()


def _keep_few(state: _State) -> None:
    """Let go of what a visitor's computations hold that were over before the latest ones."""
    with _guard:
        held = [each for ref in _over if (each := ref()) is not None and each is not state]
        own = [each for each in (*held, state) if each.asker.owner == state.asker.owner]
        for each in own[:-_HELD]:
            each.steps = each.latest = None
        _over[:] = [weakref.ref(each) for each in (*held, state) if each not in own[:-_HELD]]


def forget_jobs(graphs: Collection[int]) -> None:
    """Let go of what computations hold that are over and refer to graphs of some `id`."""
    with _guard:
        for state in filter(None, (each() for each in _over)):
            if not graphs_in((state.latest, state.steps)).isdisjoint(graphs):
                state.steps = state.latest = None


def _run(state: _State, kind: str, finished: Callable[[Any], None]) -> None:
    def report(done: float, total: float) -> None:
        if state.cancel.is_set():
            raise _Cancelled
        state.progress = (done, total)
        if state.since is None:
            state.since = (time.monotonic(), done / max(total, 1e-9))

    def placed(place: int) -> None:
        if state.cancel.is_set():
            raise _Cancelled
        if state.place and not place:  # the pace is that of the turn
            state.since = None
        state.place = place

    watch, ended, more = Stopwatch(), "done", {}
    _running.add(state)
    note("job", kind=kind, state="started")
    steps = state.steps
    assert steps is not None
    try:
        if isinstance(steps, Call):
            results: Iterable[Any] = call_results(steps, kind, report, placed, state.asker)
        else:
            results = steps(report, state.latest)
        for result in results:
            state.latest = result
            state.ready.set()
        finished(state.latest)
        state.is_nothing = state.latest is None
        state.steps, state.complete = None, True
    except _Cancelled:
        ended, state.error = "stopped", state.refusal
    except KgdashError as error:
        state.steps, state.error = None, error.with_traceback(None)
        ended, more = "failed", {"error": type(error).__name__}
    except BaseException as error:
        state.error = error
        ended, more = "failed", {"error": type(error).__name__}
    finally:
        state.place = 0
        _running.discard(state)
        note("job", kind=kind, state=ended, seconds=watch.seconds, **more)
        if kind == "page":  # what prepares, or trains, holds little
            _keep_few(state)
        state.ready.set()
        state.ended.set()
