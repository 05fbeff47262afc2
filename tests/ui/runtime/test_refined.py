"""Results that improve in place: early figures, Stop, going on, and what ends a job."""

import threading

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.errors import KgdashError
from kgdash.ui.runtime import refined as refine
from kgdash.ui.runtime import waiting_aside
from kgdash.ui.runtime.result_cache import memory

PATIENCE = 60


class Steps:
    """Yields "rough", then "exact" once it is let go; may refuse instead."""

    def __init__(self, refuse=False, rough=True):
        self.go, self.started, self.left = threading.Event(), [], threading.Event()
        self.refuse, self.rough = refuse, rough

    def __call__(self, progress, latest):
        self.started.append(latest)
        try:
            if latest is None and self.rough:
                yield "rough"
            while not self.go.wait(0.01):
                progress(1, 2)
            if self.refuse:
                raise KgdashError("the model gives NaN")
            yield "exact"
        finally:
            self.left.set()


def page(steps, key="a"):
    """Stand for a page; AppTest runs its source, so it imports inside."""
    import streamlit as st

    from kgdash.ui.runtime.refined import refined, show_refinement

    value = refined("Comparing", (key,), steps)
    show_refinement(lambda latest: f"So far {latest}.")
    st.title(value)


@pytest.fixture
def steps(monkeypatch):
    memory.clear()
    monkeypatch.setattr(refine, "_PATIENCE", 0.0)
    made = Steps()
    yield made
    made.go.set()


def open_page(steps, **kwargs) -> AppTest:
    kwargs["steps"] = steps
    app = AppTest.from_function(page, default_timeout=PATIENCE, kwargs=kwargs).run()
    assert not app.exception
    return app


def job(app):
    return app.session_state[refine._JOB].job


def buttons(app) -> list[str]:
    return [button.label for button in app.button]


def test_rough_first_then_exact_in_place(steps):
    app = open_page(steps)
    assert app.title[0].value == "rough"
    assert buttons(app) == ["Stop"]
    running = job(app)
    assert app.run().title[0].value == "rough"
    assert job(app) is running
    steps.go.set()
    assert running.wait(PATIENCE)
    app.run()
    assert app.title[0].value == "exact"
    assert buttons(app) == []
    assert steps.started == [None]
    other = open_page(Steps())
    assert other.title[0].value == "exact", "the last result is there for all sessions"


def test_what_is_quick_shows_no_rough_figures(steps, monkeypatch):
    monkeypatch.setattr(refine, "_PATIENCE", PATIENCE)
    steps.go.set()
    app = open_page(steps)
    assert app.title[0].value == "exact"
    assert buttons(app) == []


def test_stop_keeps_the_rough_figures_and_refine_goes_on(steps):
    app = open_page(steps)
    app.button[0].click().run()
    assert steps.left.wait(PATIENCE)
    assert app.title[0].value == "rough"
    assert buttons(app) == ["Go on"]
    assert "So far rough. Stopped before all was counted" in app.markdown[0].value
    app.run()
    assert buttons(app) == ["Go on"]
    assert steps.started == [None]
    app.button[0].click().run()
    assert app.title[0].value == "rough"
    assert buttons(app) == ["Stop"]
    steps.go.set()
    assert job(app).wait(PATIENCE)
    app.run()
    assert app.title[0].value == "exact"
    assert steps.started == [None, "rough"]


def test_another_choice_stops_the_job(steps):
    app = open_page(steps)
    first = job(app)
    other = Steps()
    app.kwargs.update(key="b", steps=other)
    app.run()
    assert steps.left.wait(PATIENCE)
    assert first.status == "stopped"
    assert app.title[0].value == "rough"
    other.go.set()
    assert job(app).wait(PATIENCE)
    assert app.run().title[0].value == "exact"
    app.kwargs.update(key="a", steps=steps)
    steps.go.set()
    app.run()
    assert steps.started == [None, None], "what was stopped by leaving starts anew"


def test_refused_while_refining(steps):
    steps.refuse = True
    app = open_page(steps)
    steps.go.set()
    assert job(app).wait(PATIENCE)
    app.run()
    assert [error.value for error in app.error] == ["the model gives NaN"]
    assert not app.title
    assert not app.button


def test_where_memory_is_short_a_page_waits_aside_and_stops(monkeypatch):
    """Stop had the same computed anew."""
    monkeypatch.setattr(waiting_aside, "is_short", lambda owner: True)
    monkeypatch.setattr(waiting_aside, "_PATIENCE", -1.0)
    memory.clear()
    steps = Steps(rough=False)
    app = open_page(steps)
    assert not app.title
    (stop,) = app.button
    stop.click().run()
    assert "was stopped" in app.info[0].value
    assert steps.started == [None]
    assert steps.left.wait(PATIENCE)
