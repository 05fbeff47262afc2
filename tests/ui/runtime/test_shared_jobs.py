"""Jobs that sessions share: one per key, ended by who leaves last, some not by a closed tab."""

import gc
import threading
import time

import pytest
import streamlit as st

from kgdash.errors import OwnLineFull
from kgdash.files.visitor import visitor
from kgdash.ui.runtime import computed, refined
from kgdash.ui.runtime import shared_jobs as module
from kgdash.ui.runtime.background import Job
from kgdash.ui.runtime.shared_jobs import (
    SharedJobs,
    is_for_another_s_bound,
    own_jobs,
    shared_jobs,
)

PATIENCE = 60


class Steps:
    def __init__(self):
        self.go, self.made = threading.Event(), 0

    def __call__(self, progress, latest):
        yield "rough"
        while not self.go.wait(0.01):
            progress(1, 2)
        yield "exact"


@pytest.fixture
def steps():
    made = Steps()
    yield made
    made.go.set()


@pytest.fixture
def kept():
    return {}


@pytest.fixture
def jobs(kept):
    return SharedJobs(kept.__setitem__, 2)


def join(jobs, steps, key="a", kind="page"):
    def start(keep):
        steps.made += 1
        return Job(steps, kind=kind, finished=keep)

    return jobs.join((key,), "Counting", start)


def is_going(job) -> bool:
    return job.status == "running"


def test_who_asks_for_the_same_gets_the_same(jobs, steps, kept):
    one, two, other = join(jobs, steps), join(jobs, steps), join(jobs, steps, "b")
    assert one.job is two.job is not other.job
    assert steps.made == 2
    steps.go.set()
    assert one.job.wait(PATIENCE)
    assert other.job.wait(PATIENCE)
    assert kept == {("a",): "exact", ("b",): "exact"}
    assert not jobs._jobs


@pytest.mark.parametrize("compute", [computed._result_beside, refined.refined])
@pytest.mark.parametrize("leaves", [False, True])
def test_another_s_bound_refuses_nobody_else(compute, leaves, jobs, as_visitor, monkeypatch):
    """One account that asked again and again kept another's page from opening for a minute.

    Whichever of the two wakes first, and whether the page has shown a Stop by then.
    """
    begun, key = [], ("another's bound", leaves, compute.__name__)  # results are kept

    def work(progress, latest):
        begun.append(visitor().owner)
        if begun == ["eve"]:
            end = time.monotonic() + PATIENCE
            while not buttons and time.monotonic() < end:
                time.sleep(0.05)
                progress(1, 2)
            if leaves:  # as who wakes first does, with what is refused
                eve_left.start()
            raise OwnLineFull("4 computations that you asked for", "eve")
        yield "exact"

    for page_work in (computed, refined):
        monkeypatch.setattr(page_work, "shared_jobs", lambda: jobs)
    monkeypatch.setattr(refined, "goes_out", lambda steps: True)
    buttons = []
    monkeypatch.setattr(computed.st, "button", lambda *_, key, **__: buttons.append(key))
    as_visitor(name="eve", folder="eve")
    eves = jobs.join(key, "Counting", lambda keep: Job(work, finished=keep))
    eve_left = threading.Timer(0.02, eves.leave)
    as_visitor(name="hal", folder="hal")
    slot = [st.empty()] if compute is computed._result_beside else []
    assert compute(*slot, "Counting", key, work) == "exact"
    assert begun == ["eve", "hal"]
    assert len(buttons) == 1
    assert eves.job.status == "failed"
    assert is_for_another_s_bound(eves.job)
    as_visitor(name="eve", folder="eve")
    assert not is_for_another_s_bound(eves.job)


def test_one_of_who_has_room_takes_the_place_of_one_that_will_be_refused(
    jobs, steps, as_visitor, monkeypatch
):
    monkeypatch.setattr(module.line(), "has_room", lambda owner, kind: owner != "eve")
    as_visitor(name="eve", folder="eve")
    eves = join(jobs, steps)
    as_visitor(name="hal", folder="hal")
    assert join(jobs, steps).job is eves.job
    own = jobs.join(("a",), "Counting", lambda keep: Job(steps, finished=keep), own=True)
    assert own.job is not eves.job
    as_visitor(name="gus", folder="gus")
    assert jobs.join(("a",), "Counting", Job, own=True).job is own.job
    eves.leave()
    assert own.status == "running"
    steps.go.set()
    assert own.job.wait(PATIENCE)


def test_who_comes_back_is_counted_where_others_went_on(jobs, steps, as_visitor, monkeypatch):
    """Their job had been stopped, and begun anew by another: it ended when that one left."""
    closed, tab = {"hal"}, ["hal"]
    monkeypatch.setattr(module, "_this_tab", lambda: tab[0])
    monkeypatch.setattr(module, "_is_open", lambda tab: tab not in closed)
    hals = join(jobs, steps)
    tab[0] = "gus"
    join(jobs, steps).leave()
    assert hals.status == "stopped"
    guss = join(jobs, steps)
    closed.clear()
    tab[0] = "hal"
    hals.go_on()
    assert hals.job is guss.job
    guss.leave()
    assert hals.status == "running"
    hals.leave()
    assert hals.status == "stopped"


def test_it_is_of_who_still_waits(jobs, steps, as_visitor):
    """Four that another looked at, too, kept who had stopped them from all that is long."""
    as_visitor(name="hal", folder="hal")
    hals, also = join(jobs, steps), join(jobs, steps)
    as_visitor(name="gus", folder="gus")
    guss = join(jobs, steps)
    hals.leave()
    assert guss.job.owner == "hal"
    also.leave()
    assert guss.job.owner == "gus"
    guss.leave()
    assert guss.status == "stopped"


@pytest.mark.parametrize("full", [{"gus"}, {"gus", "dan"}])
@pytest.mark.parametrize("kind", ["page", "preparation"])
def test_it_is_of_nobody_who_has_as_many_as_they_may(
    full, kind, jobs, steps, as_visitor, monkeypatch
):
    """Who joined what another began and stopped came to hold all 16 places in line."""
    asked = kind
    monkeypatch.setattr(
        module.line(), "has_room", lambda owner, kind: kind == asked and owner not in full
    )
    waits = {}
    for name in ("hal", "gus", "dan"):
        as_visitor(name=name, folder=name)
        waits[name] = join(jobs, steps, kind=kind)
    waits["hal"].leave()
    job = waits["gus"].job
    if "dan" not in full:
        assert (job.owner, job.status) == ("dan", "running")
    else:
        assert job.wait(PATIENCE)
        assert isinstance(job.error, OwnLineFull)
        assert job.error.owner == "gus"
        assert str(job.error).startswith("4 computations that you asked for")


def test_who_closed_the_tab_does_not_count(jobs, steps, as_visitor, monkeypatch):
    """Who had opened what another began, and closed the tabs, was refused all that is long."""
    closed, tab = set(), ["hal's"]
    monkeypatch.setattr(module, "_this_tab", lambda: tab[0])
    monkeypatch.setattr(module, "_is_open", lambda tab: tab not in closed)
    waits = {}
    for name in ("hal", "gus", "dan"):
        as_visitor(name=name, folder=name)
        tab[0] = name
        waits[name] = join(jobs, steps)
    closed.add("gus")
    job = waits["hal"].job
    waits["hal"].leave()
    assert (job.owner, job.status) == ("dan", "running")
    waits["dan"].leave()
    assert job.status == "stopped"
    as_visitor(name="gus", folder="gus")
    assert waits["gus"].status == "stopped"  # who comes back begins anew
    assert join(jobs, steps).job is not job


def test_closed_tabs_keep_nobody_from_another(jobs, steps, as_visitor, monkeypatch):
    """Four of them did, of one's own or handed over, until Streamlit let the sessions go."""
    closed, tab = set(), [""]
    monkeypatch.setattr(module, "_this_tab", lambda: tab[0])
    monkeypatch.setattr(module, "_is_open", lambda tab: tab not in closed)
    hals, guss = [], []
    for key in "abcd":
        as_visitor(name="hal", folder="hal")
        tab[0] = "hal's " + key
        hals.append(join(jobs, steps, key))
        as_visitor(name="gus", folder="gus")
        tab[0] = "gus's " + key
        guss.append(join(jobs, steps, key))
    for each in hals:
        each.leave()
    assert {each.job.owner for each in guss} == {"gus"}
    closed.update("gus's " + key for key in "abcd")
    tab[0] = "gus's new one"
    new = join(jobs, steps, "e")
    assert [each.status for each in guss] == ["stopped", "stopped", "running", "running"]
    assert new.status == "running"
    assert join(jobs, steps, "c").job is guss[2].job


def test_it_ends_when_the_last_one_leaves(jobs, steps, kept):
    one, two = join(jobs, steps), join(jobs, steps)
    one.leave()
    one.leave()
    assert one.status == "stopped"
    assert two.status == "running"
    two.leave()
    assert two.job.wait(PATIENCE)
    assert two.status == one.status == "stopped"
    assert not kept


def test_who_left_may_wait_again(jobs, steps):
    one, two = join(jobs, steps), join(jobs, steps)
    job = one.job
    one.leave()
    one.go_on()
    assert (one.job, one.status) == (job, "running")
    two.leave()
    assert one.status == "running"
    one.leave()
    assert job.wait(PATIENCE)
    two.go_on()  # from its latest result
    one.go_on()
    assert one.job is two.job is not job
    assert two.job.latest == "rough"
    steps.go.set()
    assert two.job.wait(PATIENCE)
    assert (one.status, one.job.latest) == ("done", "exact")


def test_some_go_on_when_nobody_looks_and_the_oldest_of_more_is_stopped(jobs, steps):
    made = {}
    for key in "abcd":
        waiting = join(jobs, steps, key)
        made[key] = waiting.job
        del waiting
        gc.collect()
    assert [is_going(job) for job in made.values()] == [False, False, True, True]
    again = join(jobs, steps, "c")  # the next tab finds it
    assert again.job is made["c"]
    again.leave()  # and nobody else is there who could want it
    assert not is_going(made["c"])
    assert is_going(made["d"])


def test_nobody_ends_another_ones_by_closing_tabs(jobs, steps, as_visitor):
    as_visitor(name="ada", folder="a")
    adas = join(jobs, steps, "a").job
    gc.collect()
    as_visitor(name="eve", folder="e")
    made = []
    for key in "bcd":
        waiting = join(jobs, steps, key)
        made.append(waiting.job)
        del waiting
        gc.collect()
    assert [is_going(job) for job in (adas, *made)] == [True, False, True, True]


def test_what_a_session_looks_at_is_not_counted(jobs, steps):
    seen = [join(jobs, steps, key) for key in "abc"]
    unseen = join(jobs, steps, "d").job
    gc.collect()
    assert [is_going(each.job) for each in seen] == [True] * 3
    assert is_going(unseen)


def test_none_goes_on_where_none_is_spared(steps, kept):
    job = join(SharedJobs(kept.__setitem__, 0), steps).job
    gc.collect()
    assert job.wait(PATIENCE)
    assert job.status == "stopped"


def test_one_that_failed_is_started_anew(jobs):
    def fail(progress, latest):
        raise ValueError
        yield

    one = jobs.join(("a",), "Counting", lambda keep: Job(fail, finished=keep))
    assert one.job.wait(PATIENCE)
    assert one.status == "failed"
    two = jobs.join(("a",), "Counting", lambda keep: Job(fail, finished=keep))
    assert two.job is not one.job


def test_tabs_that_are_closed_end_their_jobs_unless_there_are_processes(monkeypatch):
    monkeypatch.setenv("KGDASH_WORKERS", "0")
    assert shared_jobs()._spared == own_jobs()._spared == 0
    monkeypatch.setenv("KGDASH_WORKERS", "1")
    assert shared_jobs()._spared == module._SPARED == 3
    assert own_jobs()._spared == 0
    assert own_jobs() is not own_jobs()


def test_a_session_that_goes_amid_a_change_does_not_wait_for_it(jobs, steps):
    """Garbage is collected anywhere: in a thread that starts, for which who began it waits."""
    waiting, gone = join(jobs, steps), threading.Event()

    def forget(unused):
        nonlocal waiting
        waiting = None
        gc.collect()
        gone.set()
        yield "exact"

    def start(keep):
        job = Job(lambda progress, latest: forget(latest), finished=keep)
        assert gone.wait(PATIENCE)  # by then the other thread has let go of it
        return job

    other = jobs.join(("b",), "Counting", start)
    assert other.job.wait(PATIENCE)
    assert not [shared for shared in jobs._jobs.values() if shared.askers]
