"""Pages that wait go aside where memory is short, and nowhere else."""

from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

from kgdash.ui.runtime import waiting_aside

PATIENCE = 60


class Job:
    """One that waits in line, and has no result."""

    place, started = 2, 0.0

    def share(self):
        return 0.25

    def wait_for_result(self, seconds):
        return False


def page(waiting, stop):
    """Stand for a page; AppTest runs its source, so it imports inside."""
    import streamlit as st

    from kgdash.ui.runtime.waiting_aside import wait_aside

    st.title("Before")
    wait_aside(st.empty(), "Counting", waiting, stop)
    st.caption("After")


def open_page(stop=list) -> AppTest:
    waiting = SimpleNamespace(job=Job(), status="running")
    app = AppTest.from_function(
        page, default_timeout=PATIENCE, kwargs={"waiting": waiting, "stop": stop}
    ).run()
    assert not app.exception
    assert app.title[0].value == "Before"
    return app


def test_it_ends_and_shows_how_far_it_is(monkeypatch):
    stopped = []
    monkeypatch.setattr(waiting_aside, "is_short", lambda owner: True)
    app = open_page(lambda: stopped.append(True))
    assert not app.caption
    assert app.get("progress")[0].proto.text == "Counting, 2nd in line"
    assert app.get("progress")[0].proto.value == 25
    app.button[0].click().run()
    assert stopped


def test_elsewhere_it_goes_on(monkeypatch):
    monkeypatch.setattr(waiting_aside, "is_short", lambda owner: False)
    app = open_page()
    assert app.caption[0].value == "After"
    assert not app.button
