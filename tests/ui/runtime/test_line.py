"""The line for worker processes: whose turn it is, who is paused, refused and told where."""

import threading
import time
from itertools import pairwise

import pytest

from kgdash.errors import KgdashError
from kgdash.files.lock import hold_lock
from kgdash.ui.runtime import line as module
from kgdash.ui.runtime import ticket as tickets
from kgdash.ui.runtime.line import MOST, SETTING, Line, line
from kgdash.ui.runtime.ticket import OWN_MOST, Asker

PATIENCE = 60


class Fake:
    """Stands for a worker: reports until the call's event is set, then yields its name."""

    made, alive = 0, 0

    def __init__(self):
        Fake.made += 1
        Fake.alive += 1
        self.is_there, self.waits, self.going = True, False, True

    def is_alive(self):
        return self.is_there

    def close(self):
        Fake.alive -= 1
        self.is_there = False

    def pause(self):
        self.going = False

    def go_on(self):
        self.going = True

    def results(self, call, progress):
        call.times += 1
        call.worker, self.going = self, True
        while not call.go.wait(0.01):
            assert self.going  # a pause lasts until the report returns
            progress(1, 2)
        if call.dies:
            self.is_there = False
            raise KgdashError("dead")
        yield call.name


class Asked:
    """A call, its thread, and what it was told."""

    def __init__(self, line, name, kind="page", dies=False, owner=""):
        self.asker = Asker(owner)
        self.name, self.dies, self.times, self.worker = name, dies, 0, None
        self.go, self.leave = threading.Event(), threading.Event()
        self.places, self.found, self.error = [], [], None
        self._line, self._kind = line, kind
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()
        wait_until(lambda: self.places or self.error)

    def _ask(self):
        try:
            asked = (self, self._kind, self._report, self._placed, self.asker)
            for result in self._line.results(*asked):
                self.found.append(result)
        except Exception as error:
            self.error = error

    def _report(self, done, total):
        if self.leave.is_set():
            raise InterruptedError

    def _placed(self, place):
        self.places.append(place)
        self._report(0, 1)

    @property
    def place(self):
        return self.places[-1]

    def end(self):
        self.go.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    def stop(self):
        self.leave.set()
        self.thread.join(PATIENCE)
        assert isinstance(self.error, InterruptedError)


def end_all(calls):
    for each in calls:
        each.go.set()
    for each in calls:
        each.end()


def wait_until(met):
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def noted(monkeypatch):
    events = []
    monkeypatch.setattr(module, "note", lambda _, **fields: events.append(fields["state"]))
    return events


@pytest.fixture(autouse=True)
def quick(noted, monkeypatch):
    """Look often, and let nobody's turn end unless a test wants that."""
    Fake.made = Fake.alive = 0
    monkeypatch.setattr(module, "_POLL", 0.01)
    monkeypatch.setattr(module, "_TURN", 1e9)


@pytest.fixture
def short_turns(monkeypatch):
    monkeypatch.setattr(module, "_TURN", 0.05)


@pytest.fixture
def one():
    return Line(1, Fake)


def test_one_after_another_and_everyone_is_told_the_place(one, noted):
    first, second, third = (Asked(one, name) for name in "abc")
    assert first.places == [0]
    assert (second.place, third.place) == (1, 2)
    assert one.waiting == 2
    first.end()
    wait_until(lambda: second.place == 0 and third.place == 1)
    second.end()
    third.end()
    assert [each.found for each in (first, second, third)] == [["a"], ["b"], ["c"]]
    assert (one.waiting, one._tickets) == (0, [])
    assert Fake.made == 1
    assert noted == ["running", "queued", "queued", "running", "running"]


def test_as_many_at_once_as_there_are_workers():
    two = Line(2, Fake)
    asked = [Asked(two, name) for name in "abc"]
    wait_until(lambda: [each.place for each in asked] == [0, 0, 1])
    for each in asked:
        each.end()


def test_who_leaves_the_line_makes_room(one):
    first, second, third = (Asked(one, name) for name in "abc")
    second.stop()
    wait_until(lambda: third.place == 1)
    first.stop()  # while it runs
    wait_until(lambda: third.place == 0)
    third.end()
    assert third.found == ["c"]
    assert not second.times


def test_a_short_call_does_not_wait_for_the_end_of_a_long_one(one, short_turns, noted):
    long = Asked(one, "long")
    short = Asked(one, "short")
    wait_until(lambda: short.place == 0)
    wait_until(lambda: long.place == 1)
    short.end()
    wait_until(lambda: long.place == 0)
    long.end()
    assert (long.times, long.found) == (1, ["long"])  # it kept its process
    assert noted.count("queued") >= 2
    assert noted.count("running") >= 3


def test_two_long_calls_take_turns(one, short_turns):
    asked = [Asked(one, name) for name in "ab"]
    for each in (*asked, *asked):
        wait_until(lambda each=each: each.place == 0)
        wait_until(lambda each=each: each.place == 1)
    busy = [sum(each.places.count(0) for each in asked), Fake.made]
    assert busy[0] >= 4
    assert busy[1] == 2
    for each in asked:
        each.end()


def test_a_turn_lasts(one, monkeypatch):
    monkeypatch.setattr(module, "_TURN", 0.5)
    start = time.monotonic()
    long, short = Asked(one, "long"), Asked(one, "short")
    wait_until(lambda: short.place == 0)
    assert time.monotonic() - start >= 0.5
    for each in (short, long):
        each.end()


def test_a_preparation_is_paused_at_once_for_a_page_and_never_the_other_way(one, short_turns):
    preparation = Asked(one, "all", "preparation")
    page = Asked(one, "page")
    wait_until(lambda: page.place == 0 and preparation.place == 1)
    time.sleep(0.2)
    assert page.places.count(0) == 1
    page.end()
    wait_until(lambda: preparation.place == 0)
    preparation.end()
    assert (preparation.times, preparation.found) == (1, ["all"])


def test_a_new_call_gets_the_process_of_one_that_is_paused(one, short_turns):
    long = [Asked(one, name) for name in "abc"]
    wait_until(lambda: Fake.alive == 3 and all(each.times for each in long))
    new = Asked(one, "new")
    wait_until(lambda: new.place == 0)
    new.end()
    assert Fake.alive == 3
    for each in long:
        each.end()
    assert [each.found for each in long] == [["a"], ["b"], ["c"]]
    assert sum(each.times for each in long) == 4  # one began again
    wait_until(lambda: Fake.alive == 1)


def test_nobody_s_third_process_is_taken_from_who_has_one(one, short_turns):
    """Three calls of one account kept another's, which had computed less than each, for ever."""
    eve = [Asked(one, name, owner="eve") for name in "ab"]
    wait_until(lambda: all(each.times for each in eve))
    hal = Asked(one, "hal's", owner="hal")
    wait_until(lambda: hal.times)
    eve.append(Asked(one, "c", owner="eve"))
    wait_until(lambda: eve[-1].times)
    hal.end()
    assert (hal.times, hal.found) == (1, ["hal's"])
    end_all(eve)


def test_who_lost_a_process_takes_it_of_who_has_two_more(one, short_turns):
    calls = [Asked(one, name, owner=name) for name in ("eve", "hal", "ada")]
    wait_until(lambda: all(each.times for each in calls))
    calls[0].asker.owner = "nobody's"  # who has none by now begins new ones
    for name in ("the loan", "its next"):
        calls.append(Asked(one, name, owner="eve" if name == "the loan" else "bob"))
        wait_until(lambda: calls[-1].times)
    (lost,) = (each for each in one._tickets if each.worker is None)
    for each in one._tickets:
        each.asker.owner = "hal" if each is lost else "eve"
    wait_until(lambda: lost.worker is not None)
    end_all(calls)


def test_who_opens_page_after_page_costs_another_nothing(one, short_turns):
    """Three calls of one account began again and again, for ever, where another opened pages."""
    hal = [Asked(one, name, owner="hal") for name in "abc"]
    wait_until(lambda: all(each.times for each in hal))
    for number in range(4):
        eve = Asked(one, f"page {number}", owner="eve")
        wait_until(lambda eve=eve: eve.times)
        eve.stop()
    end_all(hal)
    assert sum(each.times for each in hal) == 3


def test_a_visitor_s_first_call_has_the_loan(one, short_turns):
    calls = [Asked(one, name, owner=name) for name in ("hal", "ada", "bob", "eve")]
    wait_until(lambda: all(each.times for each in calls))
    assert Fake.alive == 4
    calls += [Asked(one, "eve's second", owner="eve")]
    wait_until(lambda: calls[-1].times)  # her own first has given it
    assert Fake.alive == 4
    end_all(calls)
    assert [each.times for each in calls] == [1, 1, 1, 2, 1]
    wait_until(lambda: Fake.alive == 1)


def test_new_calls_of_many_have_the_loan_however_long_others_compute(one, short_turns):
    """Four accounts' long calls, of which each had given a process once, left newcomers none."""
    calls = [Asked(one, name, owner=name) for name in ("hal", "ada", "bob", "dan")]
    wait_until(lambda: all(each.times for each in calls))
    for each in one._tickets:
        each.losses = 9
    for number in range(3):
        new = Asked(one, f"page {number}", owner=f"newcomer {number}")
        wait_until(lambda new=new: new.times)
        new.end()
        assert Fake.alive <= 4
    end_all(calls)
    assert [each.times for each in calls[:3]] == [1, 1, 1]


def test_who_lost_the_loan_has_what_others_kept_for_their_time_and_keeps_it(
    one, short_turns, monkeypatch
):
    """Who opened page after page kept another's, which had lost its own, for ever."""
    calls = [Asked(one, name, owner=name) for name in ("hal", "ada", "bob")]
    wait_until(lambda: all(each.times for each in calls))
    calls += [Asked(one, "ian's", owner="ian")]
    wait_until(lambda: calls[-1].times)
    ian = one._tickets[-1]
    assert ian.is_loan
    eve = Asked(one, "page", owner="eve")
    wait_until(lambda: eve.times)
    assert (ian.loans_lost, ian.losses, ian.worker) == (1, 0, None)
    monkeypatch.setattr(tickets, "_KEPT", 0.05)
    wait_until(lambda: ian.worker is not None)
    assert not ian.is_loan
    monkeypatch.setattr(tickets, "_KEPT", 1e9)
    for number in range(3):
        eve.stop()
        eve = Asked(one, f"page {number}", owner="eve")
        wait_until(lambda eve=eve: eve.times)
    eve.stop()
    end_all(calls)
    assert calls[-1].times == 2


def test_the_loan_is_kept_by_who_has_it_when_another_ends(one, short_turns):
    calls = [Asked(one, name, owner=name) for name in ("hal", "ada", "bob", "ian")]
    wait_until(lambda: all(each.times for each in calls))
    ian = one._tickets[-1]
    assert ian.is_loan
    calls[0].end()
    assert not ian.is_loan
    end_all(calls[1:])


def test_preparations_leave_processes_to_pages(one, short_turns):
    preparations = [Asked(one, name, "preparation") for name in "abc"]
    wait_until(lambda: all(each.times for each in preparations))
    pages = [Asked(one, name) for name in "de"]
    wait_until(lambda: all(each.times for each in pages))
    assert Fake.alive == 3
    for each in preparations:
        each.go.set()
    for each in (*pages, *preparations):
        each.end()
    assert [each.found for each in preparations] == [["a"], ["b"], ["c"]]


@pytest.fixture
def awaited(tmp_path):
    """Have a thread wait for a lock as long as the test lasts."""
    waits = threading.Event()

    def take():
        with hold_lock(tmp_path / "a.lock", waits.set):
            pass

    with hold_lock(tmp_path / "a.lock"):
        thread = threading.Thread(target=take)
        thread.start()
        assert waits.wait(PATIENCE)
        yield
    thread.join(PATIENCE)


def turns(call):
    """Count how often a call's turn began."""
    return sum(now == 0 != before for before, now in pairwise([1, *call.places]))


def test_who_waits_for_a_lock_takes_nobody_s_turn(one, short_turns):
    holder = Asked(one, "holder", "preparation")
    page = Asked(one, "page")
    wait_until(lambda: page.place == 0 and holder.place == 1)
    page.worker.waits = True
    wait_until(lambda: holder.place == 0)
    page.worker.waits = False
    wait_until(lambda: holder.place == 1)
    for each in (page, holder):
        each.end()


def test_only_seconds_of_computing_count_of_a_turn(one, monkeypatch):
    """Who had waited for another's table waited on for all in line, as if they had computed."""
    now = [100.0]
    monkeypatch.setattr(tickets.time, "monotonic", lambda: now[0])
    one._lately = tickets.RecentUse(lambda: now[0])
    waiting, long = (one._enter(0, Asker(owner)) for owner in ("ian", "hal"))
    assert one._has_turn(waiting)
    now[0] += 2
    waiting.worker.waits = True
    assert not one._is_paused(waiting)
    assert one._has_turn(long)
    for _ in range(500):
        now[0] += 0.2
        assert not one._is_paused(waiting)
    assert (waiting.used, waiting.kept) == (2, 2)
    assert waiting.share() == one._lately.of(0, "ian") < 2
    waiting.worker.waits = False
    assert not one._is_paused(waiting)
    assert one._is_paused(long), "more run than may, and it has computed more"
    now[0] += 3
    assert not one._is_paused(waiting)
    monkeypatch.setattr(module, "_TURN", 5.0)
    new = one._enter(0, Asker("eve"))
    assert one._is_paused(waiting), "its turn went on while it waited"
    for each in (long, waiting, new):
        one._leave(each)
    assert waiting.used == pytest.approx(5)


def test_who_leaves_while_they_wait_for_a_lock_used_nothing(one, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(tickets.time, "monotonic", lambda: now[0])
    waiting = one._enter(0, Asker("ian"))
    assert one._has_turn(waiting)
    waiting.worker.waits = True
    assert not one._is_paused(waiting)
    now[0] += 300
    one._leave(waiting)
    assert (waiting.used, one._lately.of(0, "ian")) == (0, 0)


def test_who_waits_for_a_lock_gives_the_loan_to_a_new_call(one, short_turns):
    """Who waited for another's table kept newcomers waiting until that was made."""
    calls = [Asked(one, name, owner=name) for name in ("hal", "ada", "bob", "eve")]
    wait_until(lambda: all(each.times for each in calls))
    assert one._tickets[-1].is_loan
    wait_until(lambda: calls[-1].place == 0)
    calls[-1].worker.waits = True
    new = Asked(one, "new", owner="ian")
    wait_until(lambda: new.times)
    new.end()
    end_all(calls)
    assert [each.times for each in calls] == [1, 1, 1, 2]


def test_a_paused_call_that_may_hold_a_lock_has_turns_between_those_before_it(
    one, short_turns, awaited, monkeypatch
):
    """Who waits may wait for who is paused, and that one for pages without end."""
    monkeypatch.setattr(module, "_HELD_UP", 0.1)
    holder = Asked(one, "holder", "preparation")
    page = Asked(one, "page")
    wait_until(lambda: turns(holder) >= 3 and turns(page) >= 3)
    for each in (page, holder):
        each.end()


def test_paused_calls_that_may_hold_a_lock_leave_turns_to_a_new_one(
    one, short_turns, awaited, monkeypatch
):
    """A small file was read after 82 seconds: those paused longest came next, again and again."""
    monkeypatch.setattr(module, "_HELD_UP", 0.05)
    held = [Asked(one, name) for name in "abc"]
    wait_until(lambda: all(turns(each) >= 2 for each in held))
    new, before = Asked(one, "new"), sum(map(turns, held))
    wait_until(lambda: turns(new) or sum(map(turns, held)) > before + 12)
    assert turns(new)
    wait_until(lambda: sum(map(turns, held)) > before + 12)
    for each in (new, *held):
        each.end()


def test_two_calls_of_which_one_waits_for_the_other_s_lock_keep_nobody_waiting(one, short_turns):
    """Two tabs that mined one run's rules kept all others from the worker until they had."""
    holder = Asked(one, "holder")
    time.sleep(0.2)
    waiting = Asked(one, "waiting")
    wait_until(lambda: waiting.place == 0)
    waiting.worker.waits = True
    wait_until(lambda: holder.place == 0)
    other = Asked(one, "other")
    wait_until(lambda: other.place == 0)
    for each in (other, holder, waiting):
        each.end()


def test_a_paused_call_can_be_stopped(one, short_turns):
    long, short = Asked(one, "long"), Asked(one, "short")
    wait_until(lambda: long.place == 1)
    long.stop()
    short.end()
    assert Fake.alive == 1


def test_there_is_a_bound_that_preparations_make_room_in(one):
    pages = [Asked(one, str(number)) for number in range(MOST - 1)]
    preparation = Asked(one, "all", "preparation")
    pages.append(Asked(one, "last"))
    wait_until(lambda: preparation.error)
    refused = [preparation, Asked(one, "too many"), Asked(one, "too many", "preparation")]
    wait_until(lambda: all(each.error for each in refused))
    assert {str(each.error) for each in refused} == {
        "16 computations are under way or in line: try again when one has ended"
    }
    for each in pages:
        each.end()
    assert [each.found for each in pages] == [[each.name] for each in pages]


def test_nobody_takes_the_line_alone(one):
    ada = [Asked(one, str(number), owner="ada") for number in range(OWN_MOST)]
    refused = Asked(one, "one more", owner="ada")
    wait_until(lambda: refused.error)
    assert str(refused.error) == (
        "4 computations that you asked for are under way or in line: stop one, or try again when "
        "one has ended"
    )
    others = [
        Asked(one, "all", "preparation", owner="ada"),
        Asked(one, "bob's", owner="bob"),
        *[Asked(one, str(number)) for number in range(OWN_MOST + 1)],  # of nobody in particular
    ]
    ada.pop().stop()
    ada.append(Asked(one, "one more", owner="ada"))
    assert not [each.error for each in (*ada, *others) if each.error]
    for each in (*ada, *others):
        each.go.set()
    for each in (*ada, *others):
        each.end()


def test_who_leaves_call_after_call_goes_behind(one):
    """One account that left pages in four tabs kept another's Inspect for 43 s, which takes 4."""
    eve = Asked(one, "left", owner="eve")
    wait_until(lambda: eve.place == 0)
    time.sleep(0.3)
    eve.stop()
    wait_until(lambda: not one._tickets)
    assert one._lately.of(0, "eve") >= 0.29
    first, paused = Asked(one, "first"), Asked(one, "paused", owner="hal")
    wait_until(lambda: paused.place == 1)
    new = Asked(one, "again", owner="eve")
    wait_until(lambda: new.place == 2)
    one._lately.add(0, "hal", 0.1)
    assert [each.asker.owner for each in one._order()] == ["hal", "eve"]
    for each in (first, paused, new):
        each.go.set()
    for each in (first, paused, new):
        each.end()


def test_what_was_handed_over_counts_for_who_has_it(one):
    ada = [Asked(one, str(number), owner="ada") for number in range(OWN_MOST)]
    wait_until(lambda: one.waiting == OWN_MOST - 1)
    has_room = {who: one.has_room(who, "page") for who in ("ada", "bob", "")}
    assert has_room == {"ada": False, "bob": True, "": True}
    assert one.has_room("ada", "preparation")
    ada[-1].asker.owner = "bob"
    assert one.has_room("ada", "page")
    ada.append(Asked(one, "again", owner="ada"))
    assert not one.has_room("ada", "page")
    ada[0].asker.leaves = True
    assert one.has_room("ada", "page")
    ada.append(Asked(one, "one more", owner="ada"))
    wait_until(lambda: one.waiting == OWN_MOST + 1)
    assert not any(each.error for each in ada)
    end_all(ada)


def test_a_first_call_comes_before_the_new_ones_of_who_has_others(one):
    ada = [Asked(one, str(number), owner="ada") for number in range(OWN_MOST)]
    nobody = Asked(one, "of nobody in particular")
    bob = Asked(one, "bob's", owner="bob")
    wait_until(lambda: (nobody.place, bob.place) == (1, 2))
    wait_until(lambda: [each.place for each in ada] == [0, 3, 4, 5])
    for each in (*ada, nobody, bob):
        each.go.set()
    for each in (*ada, nobody, bob):
        each.end()


def test_a_process_that_died_is_replaced(one):
    first = Asked(one, "a", dies=True)
    first.end()
    assert str(first.error) == "dead"
    second = Asked(one, "b")
    one_more = second.worker
    second.end()
    one_more.is_there = False  # while it had no work
    third = Asked(one, "c")
    third.end()
    assert (second.found, third.found) == (["b"], ["c"])
    assert Fake.made == 3


def test_the_first_call_finds_a_process(one):
    one.get_ready()
    one.get_ready()
    assert Fake.made == 1
    asked = Asked(one, "a")
    asked.end()
    assert Fake.made == 1
    Line(0, Fake).get_ready()
    assert Fake.made == 1


@pytest.mark.parametrize(("text", "workers"), [("0", 0), ("3", 3), ("", 0), ("x", 0), ("-2", 0)])
def test_the_setting(monkeypatch, text, workers):
    monkeypatch.setenv(SETTING, text)
    assert line().workers == workers
