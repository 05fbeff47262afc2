"""Jobs that sessions share: one per key, ended by who leaves last, not by a tab that is closed."""

import gc
import threading

import pytest

from kgdash.ui.runtime.background import Job
from kgdash.ui.runtime.shared_jobs import SharedJobs

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
    return SharedJobs(kept.__setitem__)


def join(jobs, steps, key=("a",)):
    def make(keep):
        steps.made += 1
        return Job(steps, finished=keep)

    return jobs.join(key, "Counting", make)


def test_who_asks_for_the_same_gets_the_same(jobs, steps, kept):
    one, two, other = join(jobs, steps), join(jobs, steps), join(jobs, steps, ("b",))
    assert one.job is two.job is not other.job
    assert steps.made == 2
    steps.go.set()
    assert one.job.wait(PATIENCE)
    assert other.job.wait(PATIENCE)
    assert kept == {("a",): "exact", ("b",): "exact"}
    assert not jobs.running(("a",))


def test_it_ends_when_the_last_one_leaves(jobs, steps, kept):
    one, two = join(jobs, steps), join(jobs, steps)
    jobs.leave(one)
    assert two.job.status == "running"
    assert jobs.running(("a",))
    jobs.leave(two)
    assert two.job.wait(PATIENCE)
    assert two.job.status == "stopped"
    assert not jobs.running(("a",))
    assert not kept


def test_it_goes_on_when_a_tab_is_closed_and_the_next_one_finds_it(jobs, steps, kept):
    one = join(jobs, steps)
    job = one.job
    del one
    gc.collect()
    two = join(jobs, steps)
    assert two.job is job
    jobs.leave(two)  # and nobody else is there who could want it
    assert job.wait(PATIENCE)
    assert job.status == "stopped"


def test_without_anybody_it_ends_and_is_kept(jobs, steps, kept):
    job = join(jobs, steps).job
    gc.collect()
    steps.go.set()
    assert job.wait(PATIENCE)
    assert kept == {("a",): "exact"}


def test_one_that_was_stopped_is_gone_on_with_for_all(jobs, steps):
    one = join(jobs, steps)
    assert one.job.wait_for_result(PATIENCE)
    one.job.stop()
    two = join(jobs, steps)
    assert two.job is one.job
    two.shared.go_on()
    assert one.job is two.job
    assert one.job.status == "running"


def test_one_that_ended_and_nobody_waits_for_is_forgotten(jobs, steps):
    one = join(jobs, steps)
    assert one.job.wait_for_result(PATIENCE)
    one.job.stop()
    del one
    gc.collect()
    join(jobs, steps, ("b",))
    assert list(jobs._jobs) == [("b",)]
