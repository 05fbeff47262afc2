"""Preparing in the background: one job per run, seen by all, stopped and gone on with."""

import gc
import threading
import time

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.files.turns import first_in_line
from kgdash.runs.call import remember
from kgdash.ui.runtime import long_work, preparation
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import _shared_jobs, shared_jobs
from tests.support.fakes import fake_run, make_graph, random_scorer

PATIENCE = 60

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)])


class Work:
    """Stands for `prepare_pages`: reports a third, and ends when it is let go."""

    def __init__(self):
        self.go, self.left, self.begun, self.runs = threading.Event(), threading.Event(), [], []

    def __call__(self, run, progress, gives_way=False):
        assert gives_way
        self.begun.append(time.monotonic())
        self.runs.append(run.digest)
        self.left.clear()
        try:
            progress(1, 3)
            while not self.go.wait(0.01):
                progress(1, 3)
        finally:
            self.left.set()


def page(run):
    """Stand for a page; AppTest runs its source, so it imports inside."""
    import streamlit as st

    from kgdash.ui.runtime.preparation import show_preparation

    with st.sidebar:
        show_preparation(run)
    st.title("page")


@pytest.fixture
def work(monkeypatch):
    made = Work()
    _shared_jobs.clear()
    memory.clear()
    monkeypatch.setattr(preparation, "prepare_pages", made)
    monkeypatch.setattr(long_work, "lowest_priority", lambda: None)
    monkeypatch.setattr(preparation, "_PATIENCE", 0.0)
    monkeypatch.setattr(preparation, "prepared_share", lambda run: 0.4)
    monkeypatch.setenv("KGDASH_PREPARE", "on")
    yield made
    made.go.set()
    # One that ended later would tell the next test that all is prepared.
    for shared in list(shared_jobs()._jobs.values()):
        assert shared.job.wait(PATIENCE)


def open_page(run) -> AppTest:
    return again(AppTest.from_function(page, default_timeout=PATIENCE, kwargs={"run": run}))


def again(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def make_run(seed=0):
    return remember(fake_run(GRAPH, random_scorer(3, 2, seed)), "of a test", None)


def await_begun(work, times=1):
    end = time.monotonic() + PATIENCE
    while len(work.begun) < times:
        assert time.monotonic() < end
        time.sleep(0.01)


def job(app):
    return app.session_state["preparation"].job


def texts(app) -> list[str]:
    return [element.proto.text for element in app.sidebar.get("progress")]


def press(app, label):
    (button,) = [each for each in app.sidebar.button if each.label == label]
    button.click()
    return again(app)


def test_one_line_while_it_runs_and_none_when_it_is_done(work):
    run = make_run()
    app = open_page(run)
    await_begun(work)
    assert texts(again(app)) == ["Preparing ReliK of all 4 triples: 40%"]
    assert [button.label for button in app.sidebar.button] == ["Stop"]
    work.go.set()
    assert job(app).wait(PATIENCE)
    assert texts(again(app)) == []
    assert not app.sidebar.button


def test_it_says_what_comes_after_relik(work, monkeypatch):
    monkeypatch.setattr(preparation, "prepared_share", lambda run: 1.0)
    app = open_page(make_run())
    await_begun(work)
    (text,) = texts(again(app))
    assert text.startswith("Preparing the other pages: 33%")


def test_open_tabs_load_no_run_to_tell_of_it(work, monkeypatch):
    """Twelve tabs that nobody touched loaded one each every two seconds: 2.1 GB, a core."""
    app = open_page(make_run())
    await_begun(work)
    monkeypatch.setattr(preparation, "at_hand", lambda identity: None)
    assert texts(again(app)) == ["Preparing all pages: 33%"]


def test_one_job_for_all_sessions_and_all_pages(work):
    run = make_run()
    one, two = open_page(run), open_page(run)
    again(one)
    await_begun(work)
    assert job(one) is job(two)
    assert work.runs == [run.digest]


def test_stop_and_go_on(work):
    app = open_page(make_run())
    await_begun(work)
    press(again(app), "Stop")
    assert work.left.wait(PATIENCE)
    assert texts(again(app)) == ["Stopped preparing ReliK of all 4 triples: 40%"]
    press(app, "Go on")
    await_begun(work, 2)
    assert texts(again(app))[0].startswith("Preparing")


def test_another_run_ends_what_nobody_has_open(work):
    one, two = make_run(0), make_run(1)
    app = open_page(one)
    await_begun(work)
    ended = job(app)
    app.kwargs["run"] = two
    again(app)
    await_begun(work, 2)
    assert ended.wait(PATIENCE)
    assert ended.status == "stopped"
    assert [key[0] for key in shared_jobs()._jobs] == ["preparation"]
    assert work.runs == [one.digest, two.digest]


def test_it_goes_on_while_another_session_has_it_open(work):
    one, two = make_run(0), make_run(1)
    app, other = open_page(one), open_page(one)
    await_begun(work)
    running = job(other)
    app.kwargs["run"] = two
    again(app)
    await_begun(work, 2)
    assert running.status == "running"
    other.kwargs["run"] = two
    again(other)
    assert running.wait(PATIENCE)
    assert running.status == "stopped"


def test_a_session_that_is_gone_has_nothing_open(work):
    app = open_page(make_run())
    await_begun(work)
    running = job(app)
    app.session_state["preparation"] = None
    gc.collect()
    assert running.wait(PATIENCE)
    assert running.status == "stopped"


def test_with_worker_processes_a_closed_tab_does_not_end_it(work, monkeypatch):
    monkeypatch.setenv("KGDASH_WORKERS", "1")
    run = make_run()
    app = open_page(run)
    await_begun(work)
    running = job(app)
    app.session_state["preparation"] = None
    gc.collect()
    assert not running.wait(0.2)
    assert job(open_page(run)) is running
    work.go.set()
    assert running.wait(PATIENCE)
    assert running.status == "done"
    open_page(run)
    assert work.runs == [run.digest]


def test_who_opens_what_was_stopped_does_not_start_it(work):
    run = make_run()
    app = open_page(run)
    await_begun(work)
    press(again(app), "Stop")
    assert work.left.wait(PATIENCE)
    other = open_page(run)
    assert texts(again(other)) == ["Stopped preparing ReliK of all 4 triples: 40%"]
    press(other, "Go on")
    await_begun(work, 2)
    assert texts(again(app))[0].startswith("Preparing")


def test_it_says_when_a_page_comes_first(work):
    app = open_page(make_run())
    await_begun(work)
    with first_in_line():
        assert texts(again(app)) == ["Preparing ReliK of all 4 triples: 40%, after this page"]


def test_quick_work_is_not_shown(work, monkeypatch):
    monkeypatch.setattr(preparation, "_PATIENCE", PATIENCE)
    app = open_page(make_run())
    await_begun(work)
    assert texts(again(app)) == []


def test_a_model_that_can_not_be_scored_says_so(work, monkeypatch):
    def refuse(run, progress, gives_way):
        raise ValueError("2 scores are NaN")

    monkeypatch.setattr(preparation, "prepare_pages", refuse)
    app = open_page(make_run())
    assert job(app).wait(PATIENCE)
    (caption,) = again(app).sidebar.caption
    assert "2 scores are NaN" in caption.value


def test_switched_off(work, monkeypatch):
    monkeypatch.setenv("KGDASH_PREPARE", "off")
    app = open_page(make_run())
    assert "preparation" not in app.session_state
    assert work.begun == []


def test_what_would_take_days_is_prepared_only_if_somebody_says_so(work, monkeypatch):
    monkeypatch.setattr(preparation, "least_hours", lambda run: 72.4)
    monkeypatch.setattr(preparation, "is_counted_unasked", lambda run: False)
    app = open_page(make_run())
    assert not work.begun
    (caption,) = app.sidebar.caption
    assert caption.value.startswith("ReliK of all 4 triples would take 3 days of a core or more")
    press(app, "Prepare")
    await_begun(work)
    assert [button.label for button in again(app).sidebar.button] == ["Stop"]
    assert len(work.begun) == 1
