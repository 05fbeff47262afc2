"""How much memory the dashboard's process takes before it lets go of what can be had again.

What a run or a result takes is known once it is there: names, tables that models are made of,
indexes that pages ask for, each of which somebody could make large. So the process is measured.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kgdash.files.memory import own_memory
from kgdash.files.visitor import visitor
from kgdash.graph import KnowledgeGraph
from kgdash.runs import Run
from kgdash.serving.allocator import give_back_now
from kgdash.ui.runtime.background import forget_jobs
from kgdash.ui.runtime.held import held_bytes
from kgdash.ui.runtime.loaded_runs import forget_runs, loaded_runs
from kgdash.ui.runtime.result_cache import leaving, memory
from kgdash.ui.runtime.short_memory import most_memory

#: bytes by which the process is below its bound when enough was let go of, or by which it may grow
#: until it is asked again
_STEP = 2**29


class MemoryBound:
    """Has what is kept let go of where the process has too much memory."""

    def __init__(self, let_go: Callable[[int], bool]) -> None:
        """Begin.

        :param let_go: lets go of about so many bytes; tells whether there was anything to
        """
        self._let_go, self._next, self._lock = let_go, 0, threading.Lock()

    def keep(self, most: int) -> None:
        """Let go where the process has more than so many bytes, until it has some less.

        What is in use stays, however large it is, and is not looked at again at once.
        """
        has = own_memory()
        self._next = most if has <= most else max(most, min(self._next, has + _STEP))
        if has <= self._next or not self._lock.acquire(blocking=False):
            return
        try:
            while (over := has - most + _STEP) > 0 and self._let_go(over):
                give_back_now()
                before, has = has, own_memory()
                # What is in use goes when that ends; until then, nothing else goes in its place.
                if before - has <= over // 8:
                    break
            self._next = max(most, has + _STEP)
        finally:
            self._lock.release()


@contextmanager
def memory_bounded() -> Iterator[None]:
    """Run a page, and let go of what is kept once that is over and memory is short."""
    try:
        yield
    finally:
        _bound.keep(most_memory(visitor().owner))


def _let_go(bytes_: int) -> bool:
    """Let go of runs and what was found of them, one by one of whoever has most; then of results.

    Runs that several visitors asked for lately come after those of one, and the latest stays. So
    does what others have where all that is missing is the room below the bound.
    """
    owners: dict[int, tuple[Run | KnowledgeGraph, str]] = {}
    found = memory().held()
    for graph, (held, _, owner) in found.items():  # loaded for results alone, unless seen below
        owners[graph] = held, owner
    for run, owner in loaded_runs():
        owners.pop(id(run.graph), None)
        owners[id(run.graph)] = run, owner
    latest = next(reversed(owners), 0)
    sizes = {
        graph: (owner, held_bytes(held) + (found[graph][1] if graph in found else 0))
        for graph, (held, owner) in owners.items()
    }
    most = max(sum(size for _, size in sizes.values()) - bytes_, 0)
    gone = leaving(sizes, latest, most, spared=_STEP)
    for forget in (forget_jobs, memory().forget, forget_runs):
        forget(gone)
    return bool(gone) or (bytes_ > _STEP and memory().let_go())


_bound = MemoryBound(_let_go)
