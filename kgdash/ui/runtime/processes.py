"""Which calls of the line have a process, and who gives one to whom.

A process holds gigabytes, so that there are few: two more than calls that run at once, and one on
loan, which any new call may have. So a short page needs nobody's process but the loan, and a long
one, whose loan went to another visitor's, one that was kept for a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kgdash.ui.runtime.ticket import Ticket

#: processes at most besides those of calls that run, but for the loan
_MORE = 2


class Processes:
    """Who has the processes of a line, as its calls stand now."""

    def __init__(self, tickets: Sequence[Ticket], workers: int) -> None:
        """Look at the calls of a line.

        :param workers: calls that run at once
        """
        self._tickets, self._workers = tickets, workers
        self._having = [each for each in tickets if each.worker is not None]
        self._held = Counter(each.asker.owner for each in self._having)
        self._waiting = any(each.waits for each in self._having)
        # Where somebody may begin only who does not run gives: nobody is paused for it.
        is_full = sum(each.is_busy for each in tickets) >= workers
        self._givers = [each for each in self._having if is_full or not each.is_busy]

    def spare(self, ticket: Ticket) -> int:
        """Return how many a call may have, started already or not.

        Preparations hold as many as run at once: no page waits until one was stopped. Who lost one
        leaves the last to others in line while its visitor's other calls go on. The first of a
        visitor's may have the loan; who lost that has it where nobody gives another one.
        """
        owner = ticket.asker.owner
        spare = self._workers + _MORE - len(self._having)
        if (ticket.losses or ticket.loans_lost) and self._held[owner]:
            spare -= any(each.asker.owner != owner for each in self._tickets)
        if ticket.rank:
            return min(spare, self._workers - sum(each.rank > 0 for each in self._having))
        may_borrow = not self._held[owner] and ticket.may_borrow()
        return spare + (may_borrow and not (ticket.loans_lost and self.giver(ticket)))

    def giver(self, taker: Ticket) -> Ticket | None:
        """Return which call gives its process: of who has most, the one that loses least."""
        givers = [each for each in self._givers if self._may_take(taker, each)]
        most = {each: (each.rank, self._held[each.asker.owner], -each.kept) for each in givers}
        return max(givers, key=most.__getitem__, default=None)

    def give(self, ticket: Ticket) -> None:
        """Note that a call has one from now on."""
        kept = sum(not each.is_loan for each in self._having)
        ticket.is_loan, ticket.begun = kept >= self._workers + _MORE, ticket.used

    def end_loan(self) -> None:
        """Let who has the loan keep it, if a call has left one."""
        if len(self._having) <= self._workers + _MORE:
            for each in self._having:
                each.is_loan = False

    def _may_take(self, taker: Ticket, holder: Ticket) -> bool:
        """Tell whether a call may have another one's process.

        Pages take preparations'. All take of who holds two more: processes do not go to and fro.
        A new call takes its own visitor's. Whose visitor has none takes, if it is a new page, the
        loan, and of who waits for a lock; else what was kept for its time, but who waited for a
        lock when they lost theirs takes none of who computes, as long as another waits.
        """
        mine, theirs = taker.asker.owner, holder.asker.owner
        if holder.rank != taker.rank:
            return holder.rank > taker.rank
        if self._held[theirs] >= self._held[mine] + 2:
            return True
        if mine == theirs:
            return not taker.used
        is_new_page = not (taker.used or taker.rank or taker.losses or taker.loans_lost)
        if self._held[mine] or (taker.waited and not holder.waits and self._waiting):
            return False
        return holder.is_loan or holder.waits if is_new_page else holder.is_due()
