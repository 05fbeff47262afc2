"""Computing from a page: once per key, stoppable, and refused input is one message."""

import gc
import threading
import time

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kgdash.errors import InterruptedWork
from kgdash.runs.call import read
from kgdash.ui.runtime import computed as compute
from kgdash.ui.runtime import long_work
from kgdash.ui.runtime.background import Job
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.shared_jobs import _shared_jobs, shared_jobs

PATIENCE = 60


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


def test_several_of_one_label_may_take_long():
    """Streamlit refused the second one's Stop, as it has the first one's key."""

    def several():
        import streamlit as st

        from kgdash.ui.runtime.computed import computed

        for key in "abc":
            st.markdown(computed("Counting", (key,), lambda report: report(1, 4) or "counted"))

    app = AppTest.from_function(several, default_timeout=30).run()
    assert not app.exception
    assert shown(app) == ["counted"] * 3


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


def many_settings():
    import streamlit as st

    from kgdash.ui.runtime.computed import computed

    for number in range(30):
        computed(f"Counting {number}", ("many", number), lambda report: 1)
    st.text_input("Long", "x" * 2_000, key="long")
    st.multiselect("Few", ["a", "b"], ["a"], key="few")
    computed("At last", ("many", -1), lambda report: 1)


def test_a_session_keeps_short_settings_of_the_latest_labels():
    """Texts of 2 MB in a field were kept for each label, in each tab."""
    app = AppTest.from_function(many_settings, default_timeout=30).run()
    finished = app.session_state[compute._FINISHED]
    assert len(finished) == 20
    assert list(finished)[-1] == "At last"
    kept, _ = finished["At last"]
    assert kept["few"] == ["a"]
    assert "long" not in kept


class HeldLine:
    """Stands for the line: the second place until it is let go, then the call is made here."""

    workers = 1

    def __init__(self):
        self.go, self.kinds = threading.Event(), []

    def results(self, sent, kind, progress, placed, owner):
        placed(2)
        self.kinds.append(kind)
        while not self.go.wait(0.01):
            placed(2)
        placed(0)
        yield read(sent.content(), None)(progress)


@pytest.fixture
def held(monkeypatch):
    """Have calls wait in line, and leave the script once it has shown that it waits."""
    made, wait = HeldLine(), Job.wait
    _shared_jobs.clear()
    monkeypatch.setenv("KGDASH_WORKERS", "1")
    monkeypatch.setattr(long_work, "LONG", -1.0)
    monkeypatch.setattr(long_work, "line", lambda: made)
    looks = {}

    def look(job, seconds):
        looks[job] = looks.get(job, 0) + 1
        end = time.monotonic() + PATIENCE
        while not (made.go.is_set() or job.place):
            assert time.monotonic() < end
            time.sleep(0.01)
        if not made.go.is_set() and looks[job] % 2 == 0:
            st.stop()
        # Longer than what is between two reports that are shown.
        return wait(job, PATIENCE if made.go.is_set() else 0.15)

    monkeypatch.setattr(Job, "wait", look)
    yield made
    made.go.set()


def long_page(key="a", function="name_result"):
    import streamlit as st

    from kgdash.runs.call import Call
    from kgdash.ui.runtime.computed import computed
    from tests.support import worker_calls

    st.markdown(str(computed("Counting", (key,), Call(getattr(worker_calls, function), key))))


def open_long(**kwargs) -> AppTest:
    app = AppTest.from_function(long_page, default_timeout=PATIENCE, kwargs=kwargs).run()
    assert not app.exception
    return app


def test_a_long_call_waits_in_line_and_says_where(held):
    app = open_long()
    assert [bar.proto.text for bar in app.get("progress")] == ["Counting: 2nd in line"]
    assert [button.label for button in app.button] == ["Stop"]
    app.run()
    held.go.set()
    assert shown(app.run()) == ["result of a"]
    assert held.kinds == ["page"]


def test_two_sessions_wait_for_one_job_and_the_last_one_stops_it(held):
    one, two = open_long(), open_long()
    one.button[0].click().run()
    assert "Counting was stopped" in one.info[0].value
    assert ("a",) in shared_jobs()._jobs
    job = two.session_state["waited_job"].job
    two.button[0].click().run()
    assert job.status == "stopped"
    assert ("a",) not in shared_jobs()._jobs
    assert held.kinds == ["page"]
    held.go.set()
    assert shown(one.button[0].click().run()) == ["result of a"]


def test_that_there_is_nothing_is_found(held):
    held.go.set()
    app = open_long(function="nothing")
    assert not app.exception
    assert shown(app) == ["None"]


def test_a_closed_tab_ends_nothing(held):
    app = open_long()
    job = app.session_state["waited_job"].job
    del app
    gc.collect()
    assert ("a",) in shared_jobs()._jobs
    held.go.set()
    assert job.wait(PATIENCE)
    assert memory().get(("a",)) == "result of a"
    assert shown(open_long()) == ["result of a"]
    assert held.kinds == ["page"]


def test_other_settings_end_what_nobody_waits_for(held):
    app = open_long()
    job = app.session_state["waited_job"].job
    app.kwargs["key"] = "b"
    app.run()
    assert job.status == "stopped"
    held.go.set()
    assert shown(app.run()) == ["result of b"]


def test_what_a_long_call_refuses_is_one_message(held):
    app = open_long(function="refuse", key="expected this")
    held.go.set()
    assert [error.value for error in app.run().error] == ["expected this"]
    assert not shown(app)


def test_what_was_interrupted_is_one_sentence_and_can_be_started_again(held, monkeypatch):
    message = (
        "The process was ended from outside, or its memory did not suffice (code -9): start it "
        "again."
    )

    def interrupted(sent, kind, progress, placed, owner):
        raise InterruptedWork("The process", -9, "start it again")
        yield

    held.go.set()
    with monkeypatch.context() as patch:
        patch.setattr(held, "results", interrupted)
        app = open_long()
    assert [error.value for error in app.error] == [plain(message)]
    assert [button.label for button in app.button] == ["Start again"]
    app.button[0].click().run()
    assert shown(app) == ["result of a"]
    assert not app.error
