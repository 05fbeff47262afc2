"""Jobs that sessions share: whoever asks for the same gets the one that runs."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kgdash.errors import OwnLineFull
from kgdash.files.visitor import visitor
from kgdash.ui.runtime.background import Job
from kgdash.ui.runtime.line import line
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.ticket import OWN_MOST, own_line_full

Key = tuple[Hashable, ...]
#: starts a job, given what takes its last result
Start = Callable[[Callable[[Any], None]], Job]

#: jobs of a visitor that go on when nobody looks at them any more, if they have processes of their
#: own: one less than a visitor may have, so that what is looked at has a place
_SPARED = OWN_MOST - 1


class Shared:
    """A job, and whose sessions wait for it: ``askers``, visitor and session by number."""

    def __init__(self, key: Key, job: Job) -> None:
        self.key, self.job, self.askers = key, job, dict[int, tuple[str, str]]()

    def seen_by(self, but: int = 0) -> list[str]:
        """Name the visitors of those who wait in a tab that is open, but for one's number."""
        askers = self.askers.items()
        return [owner for number, (owner, tab) in askers if number != but and _is_open(tab)]


class Waiting:
    """That one session waits for a job, until it leaves or is gone."""

    def __init__(self, jobs: SharedJobs, shared: Shared, label: str) -> None:
        """Made by `SharedJobs.join`."""
        self.shared, self.label = shared, label
        self._jobs = jobs
        self.count()

    @property
    def key(self) -> Key:
        """Return what is computed."""
        return self.shared.key

    @property
    def job(self) -> Job:
        """Return the job."""
        return self.shared.job

    @property
    def status(self) -> str:
        """Return the job's, or "stopped" for who left."""
        has_left = not self._leave.alive and self.job.status == "running"
        return "stopped" if has_left else self.job.status

    def leave(self) -> None:
        """Wait no more: without an open tab that does, the job ends."""
        self._jobs.end_unless_others_wait(self.shared, self._number)
        self._leave()

    def go_on(self) -> None:
        """Wait again; what was stopped is started again from its latest result, for all."""
        leave_former = self._leave
        self._jobs.go_on(self)
        leave_former()

    def count(self) -> None:
        """Be counted among those who wait; by `SharedJobs` alone."""
        self._number, self._leave = self._jobs.count(self)


class SharedJobs:
    """The jobs that run or were stopped, by key."""

    def __init__(self, keep: Callable[[Hashable, Any], None], spared: int) -> None:
        """Begin with none.

        :param keep: takes key and result of each job that is done
        :param spared: jobs of one visitor that go on when nobody waits for them any more, those
            that began last
        """
        self._keep, self._spared = keep, spared
        self._jobs: dict[Key, Shared] = {}
        self._numbers = count(1)
        self._guard = threading.Lock()
        self._gone = deque[tuple[Shared, int]]()

    def join(self, key: Key, label: str, start: Start, own: bool = False) -> Waiting:
        """Wait for the job of a key; of one's others those go that tabs were closed on.

        :param label: what is computed, as users read it
        :param start: used if there is no job that runs, or has a result
        :param own: whether one that is refused for its beginner's bound does not count
        """
        with self._guarded():
            shared = self._jobs.get(key)
            is_refused = own and shared is not None and not _has_room(shared.job)(shared.job.owner)
            if shared is None or is_refused or _is_over(shared.job):
                self._end_unseen(visitor().owner)
                made: list[Shared] = []
                job = start(lambda result: self._finished(key, result, made))
                made.append(shared := Shared(key, job))
                self._jobs[key] = shared
            return Waiting(self, shared, label)

    def count(self, waiting: Waiting) -> tuple[int, weakref.finalize[..., Waiting]]:
        """Count a session that waits; return its number, and what counts it no more."""
        waiting.shared.askers[number := next(self._numbers)] = visitor().owner, _this_tab()
        return number, weakref.finalize(waiting, self._leaves, waiting.shared, number)

    def end_unless_others_wait(self, shared: Shared, number: int) -> None:
        """Stop and forget a job that nobody else looks at."""
        with self._guarded():
            if not shared.seen_by(but=number):
                self._stop(shared)

    def go_on(self, waiting: Waiting) -> None:
        """Have one wait again for the job of its key, started again unless it runs."""
        with self._guarded():
            shared = waiting.shared = self._jobs.setdefault(waiting.key, waiting.shared)
            if shared.job.status in ("stopped", "failed"):
                shared.job = shared.job.again()
            waiting.count()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            with self._guard:
                yield
        finally:
            self._count_who_left()

    def _leaves(self, shared: Shared, number: int) -> None:
        """Count one less, now or as soon as nobody changes the jobs.

        A finalizer of a session, which may run anywhere, also amid a change: it must not wait.
        """
        self._gone.append((shared, number))
        self._count_who_left()

    def _count_who_left(self) -> None:
        while self._gone and self._guard.acquire(blocking=False):
            try:
                while self._gone:
                    self._left(*self._gone.popleft())
            finally:
                self._guard.release()

    def _left(self, shared: Shared, number: int) -> None:
        """Count one less: a job that others wait for, and who asked for it no more, is theirs."""
        del shared.askers[number]
        owner, waiting = shared.job.owner, {asker for asker, _ in shared.askers.values()}
        seen_by = shared.seen_by()
        if seen_by and owner not in waiting and shared.job.status == "running":
            _hand_over(shared.job, seen_by)
        self._end_unseen(owner)

    def _end_unseen(self, owner: str) -> None:
        """Stop the oldest of too many of one visitor that nobody looks at."""
        own = [each for each in self._jobs.values() if each.job.owner == owner]
        unseen = sorted((e for e in own if not e.seen_by()), key=lambda each: each.job.started)
        going = [each for each in unseen if each.job.status == "running"]
        spared = going[-self._spared :] if self._spared else []
        for each in unseen:
            if each not in spared:
                self._stop(each)

    def _stop(self, shared: Shared) -> None:
        shared.job.stop()
        if self._jobs.get(shared.key) is shared:
            del self._jobs[shared.key]

    def _finished(self, key: Key, result: Any, made: list[Shared]) -> None:
        self._keep(key, result)
        with self._guarded():  # by now it is made
            if self._jobs.get(key) in made:
                del self._jobs[key]


def _this_tab() -> str:
    """Return the number of this thread's session; "" of a thread that has none."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


def _is_open(tab: str) -> bool:
    """Tell whether a session is connected: Streamlit keeps one that is not for a while."""
    return not tab or not runtime.exists() or runtime.get_instance().is_active_session(tab)


def _hand_over(job: Job, left: Sequence[str]) -> None:
    """Count a job for one of those who wait for it.

    Where all of them have as many as they may, it is refused.
    """
    owner = next(filter(_has_room(job), left), None)
    if owner is None:
        job.refuse(own_line_full(left[0]))
    else:
        job.hand_over(owner)


def _has_room(job: Job) -> Callable[[str], bool]:
    """Return what tells whether a visitor may have one more of a job's kind."""
    return partial(line().has_room, kind=job.kind)


def _is_over(job: Job) -> bool:
    """Tell whether a job has nothing to go on from, or failed."""
    return job.status == "failed" or (job.status == "stopped" and job.latest is None)


def is_for_another_s_bound(job: Job) -> bool:
    """Tell whether a job was refused since another visitor, who began it, has too many."""
    return isinstance(job.error, OwnLineFull) and job.error.owner != visitor().owner


def shared_jobs() -> SharedJobs:
    """Return the process's shared jobs: with worker processes, a closed tab does not end them."""
    return _shared_jobs(_SPARED if line().workers else 0)


def own_jobs() -> SharedJobs:
    """Return jobs that one session has for itself, which end with it."""
    return SharedJobs(_keep, 0)


@st.cache_resource(show_spinner=False)
def _shared_jobs(spared: int) -> SharedJobs:
    return SharedJobs(_keep, spared)


def _keep(key: Hashable, result: Any) -> None:
    memory().put(key, result)
