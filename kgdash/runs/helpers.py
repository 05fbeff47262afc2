"""Work cut into parts that others may do: the workers of a cluster, or else this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kgdash.errors import KgdashError
from kgdash.files.event_log import Stopwatch
from kgdash.progress import Progress, phases

if TYPE_CHECKING:
    from kgdash.runs.run import Run

P = TypeVar("P", bound=Sized)
R = TypeVar("R")

#: seconds for which nobody is asked who could not help
_REST = 60.0

#: does a part of a run's work: a function of a module, which other processes find by its name
Work = Callable[["Run", P, Progress], R]


@dataclass(frozen=True)
class Done(Generic[P, R]):
    """What came of a part, and the seconds that it took."""

    part: P
    found: R
    seconds: float


class Helpers(Protocol):
    """Who does parts of one run's work."""

    def threads(self) -> int:
        """Return how many parts are done at once."""

    def each(
        self, work: Work[P, R], parts: Iterator[P], total: float, progress: Progress
    ) -> Iterator[Done[P, R]]:
        """Yield what is done as it comes, in any order.

        :param parts: whose lengths say how much each is; a few are taken ahead of what is done
        :param total: the sum of their lengths
        :param progress: called several times a second with (done, total); may raise
        :raises KgdashError: as ``work``, or if nobody is left to do it
        """


@dataclass
class OrHere:
    """Others do a run's work; while they can not, this process does."""

    others: Helpers
    run: Run
    _until: float = 0.0

    def threads(self) -> int:
        """Return how many parts are done at once."""
        if not self._rests():
            try:
                return self.others.threads()
            except KgdashError:
                self._until = time.monotonic() + _REST
        return 1

    def each(
        self, work: Work[P, R], parts: Iterator[P], total: float, progress: Progress
    ) -> Iterator[Done[P, R]]:
        """Yield what is done as it comes, as `Helpers.each`."""
        on_way: dict[int, P] = {}
        done = 0.0
        if not self._rests():
            try:
                for found in self.others.each(work, _noted(parts, on_way), total, progress):
                    on_way.pop(id(found.part), None)
                    done += len(found.part)
                    yield found
                return
            except KgdashError:  # a refusal of the work's is one here, too
                self._until = time.monotonic() + _REST
        for part in chain(list(on_way.values()), parts):
            watch = Stopwatch()
            found_here = work(self.run, part, _within(progress, done, len(part), total))
            done += len(part)
            yield Done(part, found_here, watch.seconds)

    def _rests(self) -> bool:
        return time.monotonic() < self._until


def _noted(parts: Iterator[P], on_way: dict[int, P]) -> Iterator[P]:
    for part in parts:
        on_way[id(part)] = part
        yield part


def each_part(
    run: Run, work: Work[P, R], parts: Iterator[P], total: float, progress: Progress
) -> Iterator[tuple[P, R]]:
    """Yield what comes of each part: from the run's helpers in any order, else here, one by one.

    A part may come twice. Arguments are those of `Helpers.each`.
    """
    if run.helpers is not None:
        for done in run.helpers.each(work, parts, total, progress):
            yield done.part, done.found
        return
    before = 0.0
    for part in parts:
        yield part, work(run, part, _within(progress, before, len(part), total))
        before += len(part)


def _within(progress: Progress, before: float, count: float, total: float) -> Progress:
    """Report a part as what it is of the whole."""
    (report,) = phases(lambda done, of: progress(before + count * done / of, total), [1.0])
    return report
