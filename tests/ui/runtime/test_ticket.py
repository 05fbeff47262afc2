"""What was used lately counts, and less and less."""

import pytest

from kgdash.ui.runtime.ticket import Asker, RecentUse, Ticket, giver, held_processes


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


def held(owner, used=0.0, begun=0.0, **fields):
    """Make a call that has a process."""
    return Ticket(0, 1, Asker(owner), used=used, begun=begun, worker=object(), **fields)


def test_who_has_two_processes_more_gives_the_one_that_loses_least():
    tickets = [held("hal", 40), held("hal", 42, begun=40), held("hal", 9), held("ada")]
    for used in (0, 5):
        new = Ticket(0, 2, Asker("eve"), used=used)
        assert giver(new, tickets, held_processes(tickets)) is tickets[1]


def test_a_new_call_takes_a_process_of_its_own_visitor_s_before_it_takes_another_s_only_one():
    tickets = [held("hal", 40), held("hal", 1), held("eve", 30)]
    number = held_processes(tickets)
    assert giver(Ticket(0, 2, Asker("eve")), tickets, number) is tickets[2]
    assert giver(Ticket(0, 2, Asker("eve"), used=5), tickets, number) is None


def test_the_only_process_of_a_visitor_is_taken_from_a_call_once():
    tickets = [held("hal", 40), held("ada", 3, has_lost=True), held("bob", 4)]
    number = held_processes(tickets)
    assert giver(Ticket(0, 2, Asker("eve")), tickets, number) is tickets[2]
    tickets[0].has_lost = tickets[2].has_lost = True
    assert giver(Ticket(0, 2, Asker("eve")), tickets, number) is None


def test_a_page_takes_a_preparation_s_process_first():
    tickets = [held("eve", 1), Ticket(1, 1, Asker("eve"), used=9, worker=object())]
    number = held_processes(tickets)
    assert giver(Ticket(0, 2, Asker("hal"), used=5), tickets, number) is tickets[1]
    assert giver(Ticket(1, 2, Asker("hal")), tickets[:1], number) is None
