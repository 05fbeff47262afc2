"""Computing from a page: once per key, stoppable, and refused input is one message."""

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.ui.runtime import computed as compute
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import memory


@pytest.fixture(autouse=True)
def _afresh(monkeypatch):
    memory.clear()
    monkeypatch.setattr(compute, "_PATIENCE", -1.0)


def page(calls, key="a", way="finishes"):
    """Stand for a page with one computation; AppTest runs its source, so it imports inside."""
    import streamlit as st

    from kgdash.errors import KgdashError
    from kgdash.ui.runtime.computed import computed

    def work(report):
        calls.append(key)
        report(1, 4)
        if way == "refuses":
            raise KgdashError("expected this; found that (x.tsv, line 3)")
        if way == "is left":
            st.stop()
        return f"result of {key}"

    st.markdown(computed("Counting", (key,), work))
    st.markdown("below")


def open_page(calls, **kwargs) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30, kwargs={"calls": calls, **kwargs}).run()
    assert not app.exception
    return app


def shown(app) -> list[str]:
    return [element.value for element in app.markdown]


def test_computes_once_per_key_for_all_sessions():
    calls = []
    app = open_page(calls)
    assert shown(app) == ["result of a", "below"]
    app.run()
    assert shown(open_page(calls)) == ["result of a", "below"]
    assert calls == ["a"]
    assert shown(open_page(calls, key="b")) == ["result of b", "below"]
    assert calls == ["a", "b"]


def test_progress_and_stop_are_gone_when_done():
    app = open_page([])
    assert not app.button
    assert not app.get("progress")


def test_refused_input_is_one_message_and_is_not_remembered():
    calls = []
    app = open_page(calls, way="refuses")
    assert [error.value for error in app.error] == [
        plain("expected this; found that (x.tsv, line 3)")
    ]
    assert not app.button
    assert not shown(app)
    app.run()
    assert calls == ["a", "a"]


def test_progress_and_stop_show_while_it_runs():
    calls = []
    app = open_page(calls, way="is left")
    assert [button.label for button in app.button] == ["Stop"]
    assert app.get("progress")
    assert not shown(app)
    app.run()
    assert calls == ["a", "a"], "what was left unfinished must not be remembered"


def test_stop_then_start_again():
    calls = []
    app = open_page(calls, way="is left")
    app.button[0].click()
    app.run()
    assert calls == ["a"]
    assert "Counting was stopped" in app.info[0].value
    assert not shown(app)
    app.run()
    assert calls == ["a"], "it stays stopped until the user says otherwise"
    app.kwargs["way"] = "finishes"
    app.button[0].click()
    app.run()
    assert calls == ["a", "a"]
    assert shown(app) == ["result of a", "below"]


def test_stopping_one_computation_leaves_others_alone():
    calls = []
    app = open_page(calls, way="is left")
    app.button[0].click()
    app.run()
    app.kwargs.update(key="b", way="finishes")
    app.run()
    assert shown(app) == ["result of b", "below"]


def test_short_work_shows_no_progress(monkeypatch):
    monkeypatch.setattr(compute, "_PATIENCE", 60.0)
    app = open_page([], way="is left")
    assert not app.button
    assert not app.get("progress")


def sized_page():
    import streamlit as st

    from kgdash.ui.runtime.computed import computed

    size = st.number_input("Size", 1, 99, 5, key="size", bind="query-params")

    def work(report):
        report(1, 4)
        if size > 50:
            st.stop()
        return f"result of {size}"

    st.markdown(computed("Counting", ("sized", size), work))


def test_after_stop_one_may_go_back_to_the_former_result():
    app = AppTest.from_function(sized_page, default_timeout=30)
    app.query_params["size"] = "7"
    app.run()
    assert shown(app) == ["result of 7"]
    app.number_input[0].set_value(60).run()
    app.button[0].click().run()
    assert [button.label for button in app.button] == ["Start again", "Back to the former result"]
    app.button[1].click().run()
    assert not app.exception
    assert shown(app) == ["result of 7"]
    assert app.number_input[0].value == 7
