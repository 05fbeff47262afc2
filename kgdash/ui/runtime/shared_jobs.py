"""Jobs that sessions share: whoever asks for the same gets the one that runs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from kgdash.ui.runtime.background import Job
from kgdash.ui.runtime.result_cache import memory


class Shared:
    """A job that one or more sessions wait for."""

    def __init__(self, key: tuple[Hashable, ...], job: Job) -> None:
        self.key, self.job = key, job
        self.waiting: weakref.WeakSet[Waiting] = weakref.WeakSet()

    def go_on(self) -> None:
        """Start it again from its latest result."""
        self.job = self.job.again()


class Waiting:
    """That one session waits for a job. A tab that is closed forgets this, and the job goes on."""

    def __init__(self, shared: Shared, label: str) -> None:
        self.shared, self.label = shared, label
        shared.waiting.add(self)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Return what is computed."""
        return self.shared.key

    @property
    def job(self) -> Job:
        """Return the job."""
        return self.shared.job


class SharedJobs:
    """The jobs that run or were stopped, by key."""

    def __init__(self, keep: Callable[[Hashable, Any], None]) -> None:
        """Begin with none.

        :param keep: takes key and result of each job that is done
        """
        self._keep = keep
        self._jobs: dict[tuple[Hashable, ...], Shared] = {}
        self._guard = threading.RLock()

    def join(
        self, key: tuple[Hashable, ...], label: str, make: Callable[[Callable[[Any], None]], Job]
    ) -> Waiting:
        """Wait for the job of a key.

        :param label: what is computed, as users read it
        :param make: starts the job if there is none that runs, or has a result; is given what
            takes the result
        """
        with self._guard:
            self._forget_ended()
            shared = self._jobs.get(key)
            if shared is None or _is_over(shared.job):
                shared = Shared(key, make(lambda result: self._finished(key, result)))
                self._jobs[key] = shared
            return Waiting(shared, label)

    def running(self, key: tuple[Hashable, ...]) -> bool:
        """Tell whether a job of a key runs."""
        with self._guard:
            shared = self._jobs.get(key)
            return shared is not None and shared.job.status == "running"

    def leave(self, waiting: Waiting) -> None:
        """Wait no more: without anybody else who does, the job ends."""
        with self._guard:
            shared = waiting.shared
            shared.waiting.discard(waiting)
            if not shared.waiting:
                shared.job.stop()
                if self._jobs.get(shared.key) is shared:
                    del self._jobs[shared.key]

    def _forget_ended(self) -> None:
        """Forget what ended and nobody waits for."""
        for key, shared in list(self._jobs.items()):
            if shared.job.status != "running" and not shared.waiting:
                del self._jobs[key]

    def _finished(self, key: tuple[Hashable, ...], result: Any) -> None:
        self._keep(key, result)
        with self._guard:
            self._jobs.pop(key, None)


def _is_over(job: Job) -> bool:
    """Tell whether a job has nothing to go on from, or failed."""
    return job.status == "failed" or (job.status == "stopped" and job.latest is None)


@st.cache_resource(show_spinner=False)
def shared_jobs() -> SharedJobs:
    """Return the process's shared jobs."""
    return SharedJobs(lambda key, result: memory().put(key, result))
