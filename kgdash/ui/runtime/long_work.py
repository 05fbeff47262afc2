"""Work that begins in a thread and goes on in a worker process if it takes long.

What is shorter stays in its thread: asking another process, which must hold the run too, would cost
more than it spares. A thread that says nothing is ended from outside: of a graph of odd shape it
might fill the server's memory. Two kinds go out at once: preparations, which nobody waits for, as a
thread of low priority that is to run Python keeps all others from it for as long as the system
leaves it aside; and readings of what visitors handed in, which may be made to hold Python. Short
texts can not: nobody waits in line for those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from kgdash.engine.workers import lowest_priority
from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor
from kgdash.graph.python_call import results_of
from kgdash.progress import Progress, silent
from kgdash.runs.call import Call, Reading, Sent
from kgdash.runs.worker import NotSent
from kgdash.ui.runtime.line import line
from kgdash.ui.runtime.page_turns import turns_of
from kgdash.ui.runtime.ticket import Asker

#: seconds that work may take in a thread of the process that serves pages
LONG = 2.0

#: calls of one visitor that may begin so at once, and seconds between two looks for a turn
AT_ONCE, _BEAT = 2, 0.1

_NOT_SENT = "what was read can not be taken over: it is nested too deep, or holds what no file does"


class _TooLong(Exception):
    """Raised where work is to go on in another process; holds the call."""


def goes_out(work: Any) -> TypeGuard[Call]:
    """Tell whether work may go to a worker process."""
    return isinstance(work, Call) and line().workers > 0


def call_results(
    call: Call,
    kind: str,
    progress: Progress,
    placed: Callable[[int], None],
    asker: Asker | None = None,
) -> Iterator[Any]:
    """Yield what a call returns, or everything that it yields, from wherever it is made.

    :param kind: of `kgdash.ui.runtime.line.KINDS`
    :param progress: may raise to end it
    :param placed: as `kgdash.ui.runtime.line.Line.results` has it, and ``asker``
    """
    out = goes_out(call)
    is_reading = isinstance(call, Reading) and not call.is_little
    at_once = kind == "preparation" or is_reading
    sent = _sendable(call) if at_once and out else None
    if sent is None:
        here = _Here(call, out, progress, placed, lowest=kind == "preparation")
        try:
            yield from here.results(asker.owner if asker and kind == "page" and out else "")
            return
        except _TooLong as long:
            # What it was raised through, held in a circle, would keep all that the call holds.
            (sent,) = long.with_traceback(None).args
    try:
        yield from line().results(sent, kind, progress, placed, asker)
    except NotSent:
        if isinstance(call, Reading):  # it is bounded there alone
            raise KgdashError(_NOT_SENT) from None
        yield from _Here(call, False, progress, placed).results("")


def result_of(call: Call) -> Any:
    """Return what a call returns, made for the visitor, wherever it is, while nobody looks on.

    :raises KgdashError: as the call, or if there is no room for it in the line
    """
    asker = Asker(visitor().owner)
    (result,) = call_results(call, "page", silent, lambda place: None, asker)
    return result


class _Here:
    """A call that begins in a thread of this process."""

    def __init__(
        self,
        call: Call,
        goes_out: bool,
        progress: Progress,
        placed: Callable[[int], None],
        lowest: bool = False,
    ) -> None:
        self._call, self._progress, self._placed = call, progress, placed
        self._lowest, self._may_go_out = lowest, goes_out
        self._sent: Sent | None = None
        self._begun = self._heard = time.monotonic()

    def results(self, owner: str) -> Iterator[Any]:
        """Yield what it returns, or everything that it yields.

        :raises _TooLong: when it is to go on in a worker
        """
        turns = turns_of(owner, "calls", AT_ONCE) if owner else None
        # A tab may begin a call at each click.
        while turns is not None and not turns.acquire(timeout=_BEAT):
            self._waiting()
        self._begun = self._heard = time.monotonic()
        yield from results_of(self._make, self._waiting, turns.release if turns else _nothing)

    def _make(self) -> Iterator[Any]:
        if self._lowest:
            lowest_priority()
        found = self._call(self._report)
        yield from found if isinstance(found, Iterator) else (found,)

    def _report(self, done: float, total: float) -> None:
        self._progress(done, total)
        self._heard = time.monotonic()
        if self._heard - self._begun > LONG:
            self._go_out()

    def _waiting(self) -> None:
        self._placed(0)  # ends it if nobody waits
        if time.monotonic() - self._heard > LONG:
            self._go_out()

    def _go_out(self) -> None:
        if self._may_go_out:
            self._may_go_out = False
            self._sent = _sendable(self._call)
        if self._sent is not None:  # at each report: its thread may wait where nothing ends it
            raise _TooLong(self._sent)


def _nothing() -> None:
    """Do nothing."""


def _sendable(call: Call) -> Sent | None:
    try:
        return call.sent()
    except Exception:  # a lock, a file, a function of a page: whatever holds such stays here
        return None
