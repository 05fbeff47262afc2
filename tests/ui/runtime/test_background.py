"""A computation in a thread: what it yields is seen at once, and it ends when asked to."""

import gc
import threading
import weakref
from contextlib import suppress
from functools import partial

import pytest

from kgdash.errors import KgdashError
from kgdash.ui.runtime import background
from kgdash.ui.runtime.background import Job, forget_jobs, time_left
from tests.support.fakes import fake_run, make_graph, random_scorer

PATIENCE = 60


class Slow:
    """Yields a first result, then reports progress until it is let go."""

    def __init__(self):
        self.go, self.left, self.given = threading.Event(), threading.Event(), []

    def __call__(self, progress, latest):
        self.given.append(latest)
        try:
            progress(0, 4)
            if latest is None:
                yield "first"
            progress(1, 4)
            while not self.go.wait(0.01):
                progress(2, 4)
            yield "last"
        finally:
            self.left.set()


@pytest.fixture
def slow():
    steps = Slow()
    yield steps
    steps.go.set()


@pytest.mark.parametrize("refused", [False, True])
def test_what_is_over_holds_nothing_that_it_was_made_of(refused):
    """Of each run that somebody had opened, a refused preparation was kept, and so the run."""

    class Model:
        pass

    def steps(progress, latest, model):
        if refused:
            raise KgdashError("too many")
        yield 1

    model = Model()
    held = weakref.ref(model)
    job = Job(partial(steps, model=model))
    assert job.wait(PATIENCE)
    del model
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(0.1)
    gc.collect()
    assert held() is None
    assert job.again() is job
    assert str(job.error) == ("too many" if refused else "None")


@pytest.mark.parametrize("stopped", [True, False])
def test_of_what_is_over_a_visitor_s_latest_hold_what_was_found(stopped, as_visitor):
    """One stopped in each of 32 tabs held 32 runs, 2.5 GB."""

    def steps(progress, latest):
        yield "found"
        while stopped:
            progress(1, 2)

    def over():
        job = Job(steps)
        job.wait_for_result(PATIENCE)
        if stopped:
            job.stop()
        assert job.wait(PATIENCE)
        return job

    as_visitor(name="bob", folder="b")
    his = over()
    as_visitor(name="ada", folder="a")
    hers = [over() for _ in range(6)]
    assert [job.latest for job in (his, *hers)] == ["found", None, None, *["found"] * 4]
    assert {job.status for job in hers} == {"stopped" if stopped else "done"}
    assert hers[0].again() is hers[0]
    if stopped:
        (again := hers[-1].again()).stop()
        assert again.latest == "found"


def test_what_is_over_forgets_a_graph():
    graphs = [make_graph([(0, 0, 1)], entities=2) for _ in range(2)]
    found = [fake_run(graphs[0], random_scorer(2, 1)), [graphs[0]], graphs[1]]
    jobs = [Job(lambda progress, latest, each=each: [each]) for each in found]
    assert all(job.wait(PATIENCE) for job in jobs)
    forget_jobs({id(graphs[0])})
    assert [job.latest for job in jobs] == [None, None, graphs[1]]


def test_the_first_result_is_there_before_the_last(slow):
    job = Job(slow)
    assert job.wait_for_result(PATIENCE)
    assert job.latest == "first"
    assert job.status == "running"
    assert not job.wait(0)
    slow.go.set()
    assert job.wait(PATIENCE)
    assert (job.latest, job.status, job.error) == ("last", "done", None)
    job.stop()
    assert job.status == "done"


def test_stop_keeps_what_was_yielded(slow):
    job = Job(slow)
    job.wait_for_result(PATIENCE)
    job.stop()
    assert job.status == "stopped"
    assert slow.left.wait(PATIENCE)
    assert job.wait(PATIENCE)
    assert (job.latest, job.status) == ("first", "stopped")


def test_again_goes_on_from_the_latest_result(slow):
    job = Job(slow)
    job.wait_for_result(PATIENCE)
    job.stop()
    more = job.again()
    assert more.wait_for_result(0)
    assert more.latest == "first"
    slow.go.set()
    assert more.wait(PATIENCE)
    assert (more.latest, more.status) == ("last", "done")
    assert slow.given == [None, "first"]


def test_stopped_before_any_result():
    entered, reported = threading.Event(), threading.Event()

    def steps(progress, latest):
        entered.set()
        reported.wait(PATIENCE)
        progress(1, 2)
        yield "never"

    job = Job(steps)
    assert entered.wait(PATIENCE)
    job.stop()
    reported.set()
    assert job.wait(PATIENCE)
    assert job.wait_for_result(0), "nobody may wait for what will not come"
    assert (job.latest, job.status) == (None, "stopped")


def test_a_job_that_nobody_holds_ends(slow):
    job = Job(slow)
    job.wait_for_result(PATIENCE)
    del job
    gc.collect()
    assert slow.left.wait(PATIENCE)


def test_failure_is_told_and_what_came_before_stays():
    def steps(progress, latest):
        yield "first"
        raise ValueError("NaN")

    job = Job(steps)
    assert job.wait(PATIENCE)
    assert (job.status, job.latest, str(job.error)) == ("failed", "first", "NaN")


def test_share_is_of_all_and_time_left_by_the_pace_since_the_first_report(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("kgdash.ui.runtime.background.time.monotonic", lambda: now[0])
    steps = Reporting([(20, 100), (27, 100), (60, 100)])
    job = Job(steps)
    steps.report_next()
    assert (job.share(), job.remaining()) == (pytest.approx(0.2), None)
    now[0] = 102.0
    steps.report_next()
    assert job.share() == pytest.approx(0.27)
    assert job.remaining() is None, "less than a tenth of what was left: no pace yet"
    assert time_left(job) == ""
    now[0] = 110.0
    steps.report_next()
    assert job.share() == pytest.approx(0.6)
    assert job.remaining() == pytest.approx(10)
    assert time_left(job) == ", about 10 s left"
    now[0] = 700.0
    assert time_left(job) == ", about 10 min left"
    job.stop()


def test_no_share_before_the_first_report():
    entered = threading.Event()

    def steps(progress, latest):
        entered.wait(PATIENCE)
        yield "last"

    job = Job(steps)
    assert (job.share(), job.remaining()) == (None, None)
    entered.set()


class Reporting:
    """Reports progress when it is told to."""

    def __init__(self, reports):
        self.reports, self.go, self.told = reports, threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, progress, latest):
        for done, total in self.reports:
            self.go.acquire(timeout=PATIENCE)
            progress(done, total)
            self.told.release()
        self.go.acquire(timeout=PATIENCE)
        yield "last"

    def report_next(self):
        self.go.release()
        assert self.told.acquire(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("end", "state"), [("go", "done"), ("stop", "stopped"), ("fail", "failed")]
)
def test_start_and_end_are_noted(slow, monkeypatch, end, state):
    noted = []
    monkeypatch.setattr(background, "note", lambda event, **more: noted.append((event, more)))

    def steps(progress, latest):
        yield from slow(progress, latest)
        if end == "fail":
            raise ValueError("secret")

    job = Job(steps, kind="training")
    assert job.wait_for_result(PATIENCE)
    if end == "stop":
        job.stop()
    else:
        slow.go.set()
    assert job.wait(PATIENCE)
    assert {event for event, _ in noted} == {"job"}
    mine = [more for _, more in noted if more["kind"] == "training"]
    assert [more["state"] for more in mine] == ["started", state]
    assert mine[1]["seconds"] >= 0
    assert mine[1].get("error") == ("ValueError" if end == "fail" else None)


def test_no_pace_where_all_was_done_at_the_first_report():
    def steps(progress, latest):
        progress(4, 4)
        yield "all"

    job = Job(steps)
    assert job.wait(PATIENCE)
    assert (job.share(), job.remaining()) == (1.0, None)


def test_a_refusal_that_pages_raise_holds_nothing_of_them():
    """Of each refused file of 63 MB a copy stayed for ever: 11 GB by eight tabs in a minute."""

    class Content:
        """What a page holds."""

    def refuse(progress, latest):
        raise KgdashError("not so")
        yield

    def page(content, again):
        job = Job(refuse)
        assert job.wait(PATIENCE)
        raise job.error.again() if again else job.error

    for again in (True, False):
        content = Content()
        there = weakref.ref(content)
        with suppress(KgdashError):
            page(content, again)
        del content
        if not again:
            gc.collect()
        assert there() is None
