"""Work that begins in a thread and goes on in a worker process if it takes long.

What is shorter stays in its thread: asking another process, which must hold the run too, would cost
more than it spares. Preparations, which nobody waits for, go out at once: a thread of low priority
that is to run Python keeps all others from it for as long as the system leaves it aside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kgdash.engine.workers import lowest_priority
from kgdash.progress import Progress
from kgdash.runs.call import Call, write
from kgdash.runs.worker import NotSent
from kgdash.ui.runtime.line import line
from kgdash.ui.runtime.page_turns import turns_of

#: seconds that work may take in a thread of the process that serves pages
LONG = 2.0

#: calls of one visitor that may begin so at once, and seconds between two looks for a turn
AT_ONCE, _BEAT = 2, 0.1


class _TooLong(Exception):
    """Raised out of a report of work that is to go on in another process; holds the call."""


def goes_out(work: Any) -> bool:
    """Tell whether work may go to a worker process."""
    return isinstance(work, Call) and line().workers > 0


def call_results(
    call: Call, kind: str, progress: Progress, placed: Callable[[int], None], owner: str = ""
) -> Iterator[Any]:
    """Yield what a call returns, or everything that it yields, from wherever it is made.

    :param kind: of `kgdash.ui.runtime.line.KINDS`
    :param progress: may raise to end it
    :param placed: as `kgdash.ui.runtime.line.Line.results` has it, and ``owner``
    """
    sent = _sendable(call) if kind == "preparation" and goes_out(call) else None
    if sent is None:
        if kind == "preparation":
            lowest_priority()
        try:
            with _turn_to_begin(owner if kind == "page" and goes_out(call) else "", placed):
                yield from _each(call(_limited(progress, call)))
            return
        except _TooLong as long:
            (sent,) = long.args
    try:
        yield from line().results(sent, kind, progress, placed, owner)
    except NotSent:
        yield from _each(call(progress))


@contextmanager
def _turn_to_begin(owner: str, placed: Callable[[int], None]) -> Iterator[None]:
    """Wait while `AT_ONCE` calls of a visitor are here: a tab may begin one at each click."""
    if not owner:
        yield
        return
    turns = turns_of(owner, "calls", AT_ONCE)
    while not turns.acquire(timeout=_BEAT):
        placed(0)  # ends it if nobody waits
    try:
        yield
    finally:
        turns.release()


def _limited(progress: Progress, call: Call) -> Progress:
    start, is_tried = time.monotonic(), not goes_out(call)

    def report(done: float, total: float) -> None:
        nonlocal is_tried
        progress(done, total)
        if not is_tried and time.monotonic() - start > LONG:
            is_tried = True
            if (sent := _sendable(call)) is not None:
                raise _TooLong(sent)

    return report


def _sendable(call: Call) -> bytes | None:
    try:
        return write(call)
    except Exception:  # a lock, a file, a function of a page: whatever holds such stays here
        return None


def _each(found: Any) -> Iterable[Any]:
    return found if isinstance(found, Iterator) else (found,)
