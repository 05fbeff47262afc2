"""Noting pages: which, how they ended, and what failed."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import RerunException, StopException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from kgdash.errors import KgdashError
from kgdash.files.event_log import SETTING
from kgdash.ui.runtime import page_view
from kgdash.ui.runtime.page_view import note_failure, note_start, noted_view


@pytest.fixture
def noted(monkeypatch):
    events = []
    monkeypatch.setattr(page_view, "note", lambda event, **fields: events.append((event, fields)))
    return events


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (None, "shown"),
        (StopException(), "shown"),
        (RerunException(RerunData()), "left"),
        (ZeroDivisionError(), "failed"),
        (KgdashError("x"), "failed"),
    ],
)
def test_how_a_page_ended(noted, raised, outcome):
    def view():
        with noted_view(SimpleNamespace(url_path="")):
            if raised is not None:
                raise raised

    if raised is None:
        view()
    else:
        with pytest.raises(type(raised)):
            view()
    ((event, fields),) = noted
    assert (event, fields["page"], fields["outcome"]) == ("page", "overview", outcome)
    assert fields["seconds"] >= 0


def test_a_failure_is_noted_by_its_class_alone(noted):
    note_failure(ValueError("aspirin"))
    assert noted == [("failed", {"error": "ValueError"})]


def test_a_server_without_its_log_does_not_start(monkeypatch, noted, tmp_path):
    monkeypatch.setenv(SETTING, str(tmp_path / "none" / "log"))
    with pytest.raises(SystemExit, match=r"^kgdash: KGDASH_LOG: .* can not be written"):
        note_start()
    assert not noted
    monkeypatch.delenv(SETTING)
    note_start()
    assert [event for event, _ in noted] == ["start"]
