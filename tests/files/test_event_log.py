"""Events: counted, written as JSON lines, and never with somebody's words in them."""

import json
import logging

import pytest

from kgdash.errors import KgdashError
from kgdash.files import event_log
from kgdash.files.event_log import EVENTS, Stopwatch, counted, log_handler, note
from tests.support.paths import ROOT


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return what reads the lines written so far."""
    path = tmp_path / "log.jsonl"
    monkeypatch.setenv(event_log.SETTING, str(path))
    yield lambda: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    event_log._handlers.pop(str(path)).close()


def test_a_line_of_json(log):
    note("page", page="overview", outcome="shown", seconds=0.25)
    (line,) = log()
    assert line.pop("time").endswith("+00:00")
    assert isinstance(line.pop("pid"), int)
    assert line == {"event": "page", "page": "overview", "outcome": "shown", "seconds": 0.25}


def test_written_where_the_command_line_silenced_libraries(log):
    logging.disable(logging.CRITICAL)
    try:
        note("failed", error="ValueError")
    finally:
        logging.disable(logging.NOTSET)
    assert [line["error"] for line in log()] == ["ValueError"]


@pytest.mark.parametrize(
    "word",
    ["aspirin → headache", "/home/ann/runs", "a b", "", "x" * 60, "1", "<script>", "é", "\n"],
)
def test_what_is_no_word_of_ours_is_left_out(log, word):
    note("page", page=word, outcome=word, seconds=1)
    note("job", kind=word, state=word, seconds=3)
    assert [line.keys() - {"time", "pid", "event"} for line in log()] == [{"seconds"}, {"seconds"}]


def test_words_out_of_a_list_are_only_those(log):
    note("page", page="local", outcome="aspirin")
    note("start", version="aspirin", python="3.11.7")
    assert [set(line) & {"outcome", "version", "python"} for line in log()] == [set(), {"python"}]


def test_an_unknown_event_or_field_is_a_mistake():
    with pytest.raises(KeyError):
        note("visitor")
    with pytest.raises(KeyError):
        note("page", name="ann")


def test_counts_and_seconds():
    def seen():
        found = [c for c in counted() if c[0] == "cache" and c[1].get("kind") == "a_test"]
        return {words["found"]: (count, seconds) for _, words, count, seconds in found}

    note("cache", kind="a_test", found="disk")
    note("cache", kind="a_test", found="computed", seconds=1.5)
    note("cache", kind="a_test", found="computed", seconds=2)
    assert seen() == {"disk": (1, None), "computed": (2, 3.5)}


def test_a_place_that_can_not_be_written(monkeypatch, tmp_path):
    monkeypatch.setenv(event_log.SETTING, str(tmp_path / "none" / "log"))
    with pytest.raises(KgdashError, match=r"KGDASH_LOG: .* can not be written \(No such file"):
        log_handler()
    note("failed", error="ValueError")  # and no event fails for it


def test_a_link_is_no_log(monkeypatch, tmp_path):
    """Another account had laid one to a file of who runs the server."""
    (tmp_path / "other").touch()
    (tmp_path / "log").symlink_to("other")
    monkeypatch.setenv(event_log.SETTING, str(tmp_path / "log"))
    with pytest.raises(KgdashError, match=r"it is a link.*a file in a folder of yours"):
        log_handler()
    note("failed", error="ValueError")
    assert not (tmp_path / "other").read_bytes()


def test_a_log_that_is_moved_away_goes_on_in_a_new_file(log, tmp_path):
    note("failed", error="One")
    (tmp_path / "log.jsonl").rename(tmp_path / "log.1")
    note("failed", error="Two")
    assert [line["error"] for line in log()] == ["Two"]
    assert "One" in (tmp_path / "log.1").read_text("utf-8")


def test_nothing_is_written_unless_it_is_set(monkeypatch, capsys):
    monkeypatch.delenv(event_log.SETTING, raising=False)
    note("failed", error="ValueError")
    assert capsys.readouterr() == ("", "")


def test_every_field_is_documented():
    text = (ROOT / "docs" / "monitoring.md").read_text("utf-8")
    for event, fields in EVENTS.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{event}`")]
        assert not [name for name in fields if f"`{name}`" not in row], row


def test_a_stopwatch_goes_forward():
    watch = Stopwatch()
    first = watch.seconds
    assert 0 <= first <= watch.seconds
