"""Who has a worker process next: one line for all sessions.

Who computed least lately comes first, of new calls those of who has no other, and pages before
preparations: a call that has had its turn is paused, keeps its process, and goes back into line.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.event_log import note
from kgdash.files.lock import locks_awaited
from kgdash.progress import Progress
from kgdash.runs.call import Sent
from kgdash.runs.worker import Worker
from kgdash.ui.runtime.processes import Processes
from kgdash.ui.runtime.ticket import OWN_MOST, Asker, GaveUp, RecentUse, Ticket, own_line_full

#: how many calls run at once; 0, or unset: everything stays in threads
SETTING = "KGDASH_WORKERS"

#: kinds of work, in the order in which they come first
KINDS = ("page", "preparation")

#: calls that run or wait
MOST = 16
_FULL = f"{MOST} computations are under way or in line: try again when one has ended"

#: seconds of a turn, and between two looks
_TURN, _POLL = 5.0, 0.2

#: seconds after which a paused call has every other turn, if it may hold a lock that is awaited
_HELD_UP = 15.0


class Line:
    """Calls that wait for a turn in a process, or have it, and the processes."""

    def __init__(self, workers: int, start: Callable[[], Worker] = Worker) -> None:
        """Start no process yet.

        :param workers: calls that run at once
        """
        self.workers = workers
        self._start = start
        self._tickets: list[Ticket] = []
        self._idle: list[Worker] = []
        self._changed = threading.Condition()
        self._numbers = count(1)
        self._lately = RecentUse()
        self._was_early = False  # the latest turn: no two of these follow each other

    def results(
        self,
        call: Sent,
        kind: str,
        progress: Progress,
        placed: Callable[[int], None],
        asker: Asker | None = None,
    ) -> Iterator[Any]:
        """Yield what a call yields in a process, whenever it has its turn.

        A call that was paused may lose its process to one that has had none yet; then it begins
        again, and what it kept on disk by then is there.

        :param call: of `kgdash.runs.call.Call.sent`
        :param kind: of `KINDS`
        :param progress: called several times a second while it runs; may raise to end it
        :param placed: is told the place in line, from 1, several times a second while it waits, and
            0 once it runs; may raise to end it
        :param asker: who asks; nobody in particular may have as many as fit
        :raises KgdashError: if there are too many calls, of all or of the owner's, or as
            `Worker.results`
        :raises WorkFailed: as `Worker.results`
        """
        ticket = self._enter(KINDS.index(kind), asker or Asker())

        def report(done: float, total: float) -> None:
            progress(done, total)
            if self._is_paused(ticket):
                assert ticket.worker is not None
                ticket.worker.pause()
                self._await_turn(ticket, kind, placed)
                ticket.worker.go_on()

        try:
            while True:
                worker = self._await_turn(ticket, kind, placed)
                try:
                    yield from worker.results(call, report)
                    return
                except GaveUp:
                    self._let_go(ticket)
        finally:
            self._leave(ticket)

    def get_ready(self) -> None:
        """Have a process that the first call finds started, if there are to be any."""
        with self._changed:
            if self.workers and not self._idle and not self._tickets:
                self._idle.append(self._start())

    def has_room(self, owner: str, kind: str) -> bool:
        """Tell whether a visitor has fewer calls of a kind than they may, but for what they left.

        :param kind: of `KINDS`
        """
        rank = KINDS.index(kind)
        with self._changed:
            asked = [each.asker for each in self._tickets if each.rank == rank]
        own = sum(each.owner == owner and not each.leaves for each in asked)
        return not owner or own < OWN_MOST

    @property
    def waiting(self) -> int:
        """Return how many calls wait for a turn."""
        return len(self._order())

    def _enter(self, rank: int, asker: Asker) -> Ticket:
        with self._changed:
            if not self.has_room(asker.owner, KINDS[rank]):
                raise own_line_full(asker.owner)
            if len(self._tickets) >= MOST:
                last = max(self._tickets, key=lambda each: (each.rank, each.number))
                if last.rank <= rank:
                    raise KgdashError(_FULL)
                last.is_refused = True  # a preparation makes room for a page
            ticket = Ticket(rank, next(self._numbers), asker, partial(self._lately.of, rank))
            self._tickets.append(ticket)
            return ticket

    def _leave(self, ticket: Ticket) -> None:
        self._let_go(ticket)
        with self._changed:
            self._tickets.remove(ticket)
            self._processes().end_loan()
            self._changed.notify_all()

    def _let_go(self, ticket: Ticket) -> None:
        """Take its process from a call."""
        with self._changed:
            worker, ticket.worker = ticket.worker, None
            self._end_turn(ticket)
            is_kept = worker is not None and worker.is_alive() and len(self._idle) < self.workers
            if is_kept and worker is not None:
                self._idle.append(worker)
            self._changed.notify_all()
        if worker is not None and not is_kept:
            worker.close()

    def _end_turn(self, ticket: Ticket) -> None:
        self._count(ticket)
        ticket.since = None

    def _count(self, ticket: Ticket) -> None:
        if (seconds := ticket.count()) and (owner := ticket.asker.owner):
            self._lately.add(ticket.rank, owner, seconds)

    def _await_turn(self, ticket: Ticket, kind: str, placed: Callable[[int], None]) -> Worker:
        for look in count():
            if self._has_turn(ticket):
                break
            if not look:
                note("job", kind=kind, state="queued")
            placed(self._order().index(ticket) + 1)
            with self._changed:
                self._changed.wait(_POLL)
        note("job", kind=kind, state="running")
        placed(0)
        assert ticket.worker is not None
        return ticket.worker

    def _has_turn(self, ticket: Ticket) -> bool:
        """Begin a turn if it is there."""
        with self._changed:
            if ticket.is_refused:
                raise KgdashError(_FULL)
            order = self._order()
            free = self.workers - len(self._busy())
            is_next = ticket in order[: max(0, free)]
            if ticket.worker is None:
                processes = self._processes()
                if not is_next or processes.spare(ticket) <= 0:
                    return False
                processes.give(ticket)
                alive = [worker for worker in self._idle if worker.is_alive()]
                ticket.worker = alive.pop() if alive else self._start()
                self._idle = alive
            else:
                self._give_up(ticket, order)
                if not is_next:
                    return False
            ticket.is_early = self._was_early = self._is_held_up(ticket)
            ticket.since = time.monotonic()
            ticket.go_on()
            return True

    def _is_paused(self, ticket: Ticket) -> bool:
        """End the turn of a running call if it has to."""
        with self._changed:
            if ticket.is_refused:
                raise KgdashError(_FULL)
            busy = self._busy()
            if ticket.is_busy:
                ticket.go_on()
            else:
                self._count(ticket)
                self._give_up(ticket, self._order())
            last = max(busy, key=lambda each: (each.rank, each.share()), default=None)
            if ticket is not last:
                return False
            if len(busy) <= self.workers and not self._is_wanted(ticket, len(busy)):
                return False
            self._end_turn(ticket)
            ticket.paused = time.monotonic()
            self._changed.notify_all()
            return True

    def _is_wanted(self, ticket: Ticket, busy: int) -> bool:
        """Tell whether the next one in line shall have the turn of a running call."""
        order = self._order()
        if not order or busy < self.workers or ticket.since is None:
            return False
        first, had_turn = order[0], ticket.turn() >= _TURN
        if ticket.is_early or self._is_held_up(first):
            return had_turn
        if first.rank == ticket.rank:
            return had_turn and first.share() < ticket.share()
        return first.rank < ticket.rank

    def _order(self) -> list[Ticket]:
        """Return who waits, the next one first."""
        with self._changed:
            waiting = [each for each in self._tickets if each.since is None]
            processes = self._processes()
            # Of a visitor's calls each would be asked later than the one before, when less is left.
            shares = {(each.rank, each.asker.owner): each.share() for each in waiting}

            def key(each: Ticket) -> tuple[Any, ...]:
                if self._is_held_up(each):
                    return (-1, each.paused)
                is_stuck = each.worker is None and processes.spare(each) <= 0
                is_stuck = is_stuck and processes.giver(each) is None
                owner = each.asker.owner
                own = (other for other in self._tickets if owner and other.asker.owner == owner)
                before = sum(other.number < each.number for other in own)
                share = shares[each.rank, owner] if owner else each.used
                return each.rank, is_stuck, share, each.used, before, each.number

            return sorted(waiting, key=key)

    def _processes(self) -> Processes:
        return Processes(self._tickets, self.workers)

    def _busy(self) -> list[Ticket]:
        """Return who runs, but for those that wait for a lock."""
        return [each for each in self._tickets if each.is_busy]

    def _give_up(self, ticket: Ticket, order: list[Ticket]) -> None:
        """Have a call that does not run give its process, if the next one may begin and takes it.

        :raises GaveUp: then
        """
        if not order or len(self._busy()) >= self.workers:
            return
        first, processes = order[0], self._processes()
        needs = first.worker is None and processes.spare(first) <= 0
        if needs and processes.giver(first) is ticket:
            ticket.lose(first)
            raise GaveUp

    def _is_held_up(self, ticket: Ticket) -> bool:
        """Tell whether a call was paused long and may hold an awaited lock."""
        if ticket.worker is None or ticket.since is not None or self._was_early:
            return False
        is_long = time.monotonic() - ticket.paused >= _HELD_UP
        return is_long and (locks_awaited() > 0 or any(each.waits for each in self._tickets))


#: the line of so many workers, made once
_lines = cache(Line)


def line() -> Line:
    """Return the process's line, with as many workers as ``$KGDASH_WORKERS`` says: none unset."""
    text = os.environ.get(SETTING, "")
    return _lines(int(text) if text.isascii() and text.isdigit() else 0)
