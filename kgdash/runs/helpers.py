"""Work cut into parts that others may do: the workers of a cluster, or else this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kgdash.progress import Progress, phases

if TYPE_CHECKING:
    from kgdash.runs.run import Run

P = TypeVar("P", bound=Sized)
R = TypeVar("R")

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
