"""Who has a process, who may have one more, and who gives theirs."""

from itertools import product

import pytest

from kgdash.ui.runtime.processes import Processes
from kgdash.ui.runtime.ticket import Asker, Ticket


class Fake:
    """Stands for a worker that waits for no lock."""

    waits = False


def held(owner, used=0.0, begun=0.0, **fields):
    """Make a paused call that has a process."""
    return Ticket(0, 1, Asker(owner), used=used, begun=begun, worker=Fake(), **fields)


def new(owner, used=0.0, rank=0, **fields):
    """Make a call without a process."""
    return Ticket(rank, 2, Asker(owner), used=used, **fields)


def test_who_has_two_processes_more_gives_the_one_that_loses_least():
    tickets = [held("hal", 40), held("hal", 42, begun=40), held("hal", 9), held("ada")]
    for used in (0, 5):
        assert Processes(tickets, 1).giver(new("eve", used)) is tickets[1]


def test_a_new_call_takes_its_own_visitor_s_process():
    tickets = [held("hal", 40), held("hal", 1), held("eve", 20)]
    assert Processes(tickets, 1).giver(new("eve")) is tickets[2]
    assert Processes(tickets, 1).giver(new("eve", used=5)) is None


def test_a_new_call_takes_the_loan_and_others_what_was_kept_for_its_time():
    tickets = [held("hal", 20), held("ada", 31), held("bob", 99), held("dan", 4, is_loan=True)]
    processes = Processes(tickets, 1)
    assert processes.giver(new("eve")) is tickets[3]
    assert processes.giver(new("eve", used=5)) is tickets[1]
    tickets[1].losses = 1
    assert processes.giver(new("eve", used=5)) is tickets[2]
    tickets[2].losses = 2
    assert processes.giver(new("eve", used=5)) is None
    assert processes.giver(new("hal", used=5)) is None, "whose visitor has one takes none"


def test_a_new_page_takes_of_who_waits_for_a_lock_and_loses_least():
    """It waited for as long as the holder of the loan computed, though a turn was free."""
    loan, little, much = held("ada", 9, is_loan=True), held("hal", 1), held("bob", 31)
    little.worker = much.worker = type("Waiting", (), {"waits": True})()
    for tickets, gives in (([loan, little, much], little), ([loan, much], loan), ([much], much)):
        assert Processes(tickets, 1).giver(new("eve")) is gives
    assert Processes([little, much], 1).giver(new("eve", used=5)) is much, "kept for its time"


def test_who_waited_for_a_lock_takes_none_of_who_computes_while_another_waits(monkeypatch):
    """Four that waited for one lock took the only page's that computed, again and again."""
    waits, computes = held("hal", 1), held("ada", 99)
    waits.worker = type("Waiting", (), {"waits": True})()
    taker = new("eve", losses=1, waited=True)
    assert Processes([waits, computes], 1).giver(taker) is None, "nor the loan, as a new page does"
    assert Processes([waits, computes], 1).giver(new("eve", losses=1)) is computes
    monkeypatch.setattr(Ticket, "is_due", lambda ticket: True)
    assert Processes([waits, computes], 1).giver(taker) is waits
    assert Processes([computes], 1).giver(taker) is computes


def test_a_page_takes_a_preparation_s_process_first():
    tickets = [held("eve", 40), Ticket(1, 1, Asker("eve"), used=9, worker=Fake())]
    assert Processes(tickets, 1).giver(new("hal", used=5)) is tickets[1]
    assert Processes(tickets[:1], 1).giver(new("hal", rank=1)) is None
    assert Processes(tickets[1:], 1).giver(new("hal", rank=1)) is None
    tickets[1].used = 30.0
    assert Processes(tickets[1:], 1).giver(new("hal", rank=1)) is tickets[1]


def test_where_another_may_begin_only_who_is_paused_gives():
    """Nobody is paused for who could begin, had they a process: the loan is theirs then."""
    tickets = [held("hal", 99, since=0.0), *(held(name) for name in ("ada", "bob", "dan"))]
    waits = new("eve", used=5, loans_lost=1)
    assert Processes(tickets, 2).giver(waits) is None
    assert Processes(tickets, 2).spare(waits) == 1
    assert Processes(tickets, 1).giver(waits) is tickets[0]


def test_who_lost_the_loan_takes_what_is_due_before_it():
    tickets = [held("hal", 31), held("ada"), held("bob")]
    assert Processes(tickets, 1).spare(new("eve")) == 1
    assert Processes(tickets, 1).spare(new("eve", used=5)) == 1
    assert Processes(tickets, 1).spare(new("eve", used=5, loans_lost=1)) == 0
    tickets[0].losses = 1
    assert Processes(tickets, 1).spare(new("eve", used=5, loans_lost=1)) == 1


@pytest.mark.parametrize("field", ["losses", "loans_lost"])
def test_who_lost_one_leaves_the_last_to_others_while_its_visitor_s_go_on(field):
    tickets = [held("hal"), held("hal"), new("hal", used=5, **{field: 1}), new("eve", used=5)]
    assert Processes(tickets, 1).spare(tickets[2]) == 0
    assert Processes(tickets[:3], 1).spare(tickets[2]) == 1
    assert Processes(tickets, 1).spare(tickets[3]) == 2


def test_preparations_hold_as_many_as_run_at_once():
    tickets = [Ticket(1, 1, Asker("eve"), worker=Fake())]
    assert Processes(tickets, 1).spare(new("hal", rank=1)) == 0
    assert Processes(tickets, 2).spare(new("hal", rank=1)) == 1


@pytest.mark.parametrize(("workers", "others"), product((1, 2), (0, 1, 2)))
def test_the_loan_is_the_one_more_until_a_process_is_left(workers, others):
    kept = [held(f"kept {number}") for number in range(workers + 2)]
    last = held("last")
    Processes(kept[:-1], workers).give(kept[-1])
    assert not kept[-1].is_loan
    Processes(kept, workers).give(last)
    assert last.is_loan
    Processes([*kept, last], workers).end_loan()
    assert last.is_loan
    # Another one's is handed on: the loan stays where it is.
    taker = held("taker")
    Processes([*kept[1:], last], workers).give(taker)
    assert (taker.is_loan, last.is_loan) == (False, True)
    Processes([*kept[1:], last][others:], workers).end_loan()
    assert not last.is_loan
