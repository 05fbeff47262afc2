"""What was used lately counts, less and less; processes are kept for a while."""

import pytest

from kgdash.ui.runtime import ticket as module
from kgdash.ui.runtime.ticket import Asker, RecentUse, Ticket


def test_use_counts_for_half_after_half_a_minute_and_is_forgotten():
    now = [100.0]
    used = RecentUse(lambda: now[0])
    assert used.of(0, "ada") == 0
    used.add(0, "ada", 0.1)
    assert used.of(0, "ada") == pytest.approx(0.1, rel=2e-3)
    used.add(1, "bob", 1)
    now[0] += 30
    assert used.of(0, "ada") == pytest.approx(0.05, rel=2e-3)
    now[0] += 300
    used.add(0, "eve", 1)
    assert set(used._used) == {(0, "eve")}


def test_hours_at_one_go_count_as_if_they_were_told_second_by_second():
    """Else who had computed for ten minutes would wait ten minutes for the next page."""
    now = [0.0]
    at_once, slowly = RecentUse(lambda: now[0]), RecentUse(lambda: now[0])
    for _ in range(600):
        now[0] += 1
        slowly.add(0, "ada", 1)
    at_once.add(0, "ada", 600)
    assert at_once.of(0, "ada") == pytest.approx(slowly.of(0, "ada"))
    assert at_once.of(0, "ada") == pytest.approx(43.28, abs=0.01)


def test_a_call_shares_what_its_visitor_used():
    ticket = Ticket(0, 1, Asker("ada"), lambda owner: {"ada": 7.0}[owner], used=3.0)
    assert ticket.share() == 7
    assert Ticket(0, 1, Asker(), used=3.0).share() == 3


def test_seconds_count_once_and_only_while_it_goes_on(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    ticket = Ticket(0, 1, Asker(), used=5.0, begun=4.0, since=90.0)
    assert (ticket.share(), ticket.count()) == (5, 0)
    ticket.go_on()
    now[0] = 102.0
    ticket.go_on()
    assert (ticket.share(), ticket.kept) == (7, 1)
    assert (ticket.count(), ticket.count()) == (2, 0)
    now[0] = 150.0
    assert (ticket.share(), ticket.kept, ticket.count(), ticket.turn()) == (7, 3, 0, 60)


def test_a_process_is_kept_longer_after_each_that_was_lost(monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 30.0)
    eve, hal = Asker("eve"), Asker("hal")
    ticket = Ticket(0, 1, hal, used=129.9, begun=100.0)
    assert not ticket.is_due()
    ticket.used = 130.0
    assert ticket.is_due()
    ticket.lose(Ticket(0, 2, hal))
    assert ticket.is_due(), "what a visitor's own call takes is no loss"
    ticket.lose(Ticket(0, 2, eve))
    assert not ticket.is_due()
    ticket.used = 160.0
    assert ticket.is_due()
    for _ in range(9):
        ticket.lose(Ticket(0, 2, eve))
    ticket.used = 580.0
    assert ticket.is_due(), "at most sixteen times as long"


def test_who_waits_for_a_lock_gives_a_process_after_as_long_as_it_computed(monkeypatch):
    """Who waits computes nothing, so that pages which had lost the loan were never begun again.

    And who had computed for minutes lost that after half a minute.
    """
    now = [100.0]
    monkeypatch.setattr(module, "_KEPT", 30.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    waiting = type("Waiting", (), {"waits": True})()

    def due_after(computed: float, losses: int) -> float:
        ticket = Ticket(0, 1, Asker("hal"), losses=losses, since=now[0], worker=waiting)
        ticket.go_on()
        now[0] += computed
        ticket.count()
        begun = now[0]
        while not ticket.is_due():
            now[0] += 1
            ticket.count()
        ticket.lose(Ticket(0, 2, Asker("eve")))
        assert (ticket.paused, ticket.waited) == (now[0], True)
        return now[0] - begun

    assert [due_after(1, losses) for losses in (0, 3, 9)] == [30, 30, 30]
    assert [due_after(90, losses) for losses in (0, 1, 2)] == [90, 120, 120], "two minutes at most"
    ticket = Ticket(0, 1, Asker("hal"))
    ticket.lose(Ticket(0, 2, Asker("eve")))
    assert not ticket.waited


def test_who_lost_the_loan_leaves_it_to_others_for_a_while(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    ticket = Ticket(0, 1, Asker("hal"), used=5.0, paused=100.0)
    assert ticket.may_borrow()
    ticket.is_loan = True
    for waits in (30.0, 60.0, 120.0, 240.0, 240.0):
        ticket.lose(Ticket(0, 2, Asker("eve")))
        assert ticket.paused == now[0]
        now[0] += waits - 0.1
        assert not ticket.may_borrow()
        now[0] += 0.1
        assert ticket.may_borrow()
    assert ticket.losses == 0
