"""Is the server well, and what did it do: asked as a monitor asks."""

import json
import re
import threading

import pytest
from starlette.requests import Request
from starlette.responses import Response
from streamlit.starlette import App

from kgdash.engine.warm import warm
from kgdash.files.event_log import note
from kgdash.serving.settings import SETTING
from kgdash.ui.runtime import background
from kgdash.ui.runtime.background import Job
from kgdash.ui.server import health
from kgdash.version import __version__
from tests.support.paths import ROOT
from tests.support.servers import write_settings

LINE = re.compile(r'kgdash_\w+(\{\w+="\w+"(,\w+="[\w .]*")*\})? [0-9.e+-]+')


@pytest.fixture(autouse=True)
def _a_server(monkeypatch):
    monkeypatch.setattr(health, "_latest", None)
    monkeypatch.setattr(health, "_sessions", lambda: 3)
    monkeypatch.setattr(background, "_running", set())
    monkeypatch.setattr(health, "kernels_ready", lambda: True)


def ask(path: str, host: str = "localhost", peer: str = "127.0.0.1", **headers) -> Response:
    """Return what the route of a path answers to a machine that asks."""
    named = {"host": f"{host}:8501", **headers}
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "scheme": "http"}
    scope |= {"client": (peer, 5000), "server": ("localhost", 8501)}
    scope["headers"] = [(k.lower().encode(), v.encode()) for k, v in named.items()]
    (endpoint,) = [route.endpoint for route in health.ROUTES if route.path == path]
    return endpoint(Request(scope))


def told(answer: Response) -> dict:
    return json.loads(answer.body)


def test_well():
    warm()
    answer = ask("/healthz")
    assert answer.status_code == 200
    found = told(answer)
    assert (found["status"], found["version"], found["sessions"]) == ("ok", __version__, 3)
    assert found["engine"]["ok"]
    assert found["engine"]["threads"] >= 1
    assert found["cache"]["free_bytes"] > 0
    assert (found["jobs"], found["jobs_in_line"]) == (0, 0)


def test_running_jobs_are_counted():
    go = threading.Event()

    def steps(progress, latest):
        go.wait(60)
        yield 1

    job = Job(steps)
    try:
        assert told(ask("/healthz"))["jobs"] == 1
        assert "\nkgdash_jobs 1\n" in health.metrics_text()
    finally:
        go.set()
    assert job.wait(60)
    assert "\nkgdash_jobs 0\n" in health.metrics_text()


def test_an_engine_that_miscounts(monkeypatch):
    monkeypatch.setattr(health, "count_given", lambda *_: None)
    answer = ask("/healthz")
    assert answer.status_code == 503
    assert told(answer)["engine"]["ok"] is False


def test_kernels_that_are_not_compiled_yet(monkeypatch):
    started = []
    monkeypatch.setattr(health, "kernels_ready", lambda: False)
    monkeypatch.setattr(health, "warm_in_background", lambda: started.append(1))
    answer = ask("/healthz")
    assert answer.status_code == 503
    assert told(answer)["engine"] == {"ok": False, "state": "compiling"}
    assert started == [1]


def test_a_cache_that_can_not_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KGDASH_CACHE", str(tmp_path / "file" / "cache"))
    answer = ask("/healthz")
    assert answer.status_code == 503
    assert told(answer)["cache"] == {"ok": False, "error": "NotADirectoryError"}
    assert str(tmp_path) not in answer.body.decode()


def test_a_full_disk(monkeypatch):
    monkeypatch.setattr(health, "_LITTLE", 2**80)
    assert ask("/healthz").status_code == 503


def test_well_is_not_looked_for_at_every_question_but_unwell_is(monkeypatch):
    asked = []
    looked = health.health
    monkeypatch.setattr(health, "health", lambda: asked.append(1) or looked())
    ask("/healthz")
    ask("/healthz")
    assert len(asked) == 1
    monkeypatch.setattr(health, "_FRESH", -1.0)
    monkeypatch.setattr(health, "count_given", lambda *_: None)
    ask("/healthz")
    monkeypatch.setattr(health, "_FRESH", 60.0)
    ask("/healthz")
    assert len(asked) == 3


FOREIGN = [
    ("localhost", "10.1.2.3", {}),
    ("evil.example", "127.0.0.1", {}),
    ("localhost", "127.0.0.1", {"X-Forwarded-For": "10.1.2.3"}),
    ("localhost", "127.0.0.1", {"Forwarded": "for=10.1.2.3"}),
]


@pytest.mark.parametrize(("host", "peer", "headers"), FOREIGN)
def test_others_are_told_nothing_but_whether(monkeypatch, host, peer, headers):
    monkeypatch.setenv(health.METRICS, "on")
    assert ask("/metricsz", host, peer, **headers).status_code == 404
    assert told(ask("/healthz", host, peer, **headers)) == {"status": "ok"}


def test_a_server_of_others_tells_nobody_that_says_to_be_here(monkeypatch, tmp_path):
    """A proxy that adds no header passes on ``Host: localhost`` of a stranger."""
    monkeypatch.setenv(health.METRICS, "on")
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    assert told(ask("/healthz")) == {"status": "ok"}
    assert ask("/metricsz").status_code == 404


def test_streamlit_takes_the_routes():
    """It keeps some addresses for itself, and does not start where one is asked for."""
    assert App("dashboard.py", routes=health.ROUTES)


def test_metrics_are_off_unless_set(monkeypatch):
    monkeypatch.delenv(health.METRICS, raising=False)
    assert ask("/metricsz").status_code == 404


def test_metrics_are_what_prometheus_reads(monkeypatch):
    monkeypatch.setenv(health.METRICS, "on")
    note("page", page="a_test", outcome="shown", seconds=0.5)
    answer = ask("/metricsz")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    assert answer.body.decode().endswith("\n")
    assert 'kgdash_events_total{event="page",outcome="shown",page="a_test"} 1' in lines
    assert 'kgdash_event_seconds_total{event="page",outcome="shown",page="a_test"} 0.500' in lines
    assert "kgdash_engine_ok 1" in lines
    assert int(next(x for x in lines if x.startswith("kgdash_resident_bytes ")).split()[1]) > 2**20
    types = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(types) == len(set(types))
    for line in lines:
        if not line.startswith("# TYPE "):
            assert LINE.fullmatch(line), line
            assert line.split("{")[0].split()[0] in types


def test_no_page_loses_its_address():
    pages = {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert not {route.path.strip("/") for route in health.ROUTES} & pages


def test_who_has_the_token_is_told_all(monkeypatch, tmp_path):
    token = "9a8b7e6f5a4c3b2d1e0f9a8b7c3f1c0d"
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path, 'monitor = "token"')))
    monkeypatch.setenv(health.METRICS, "on")
    for wrong in (
        "",
        token,
        "Bearer ",
        "Bearer x",
        f"Bearer {token}x",
        f"Basic {token}",
        "Bearer ä",
    ):
        assert ask("/metricsz", authorization=wrong).status_code == 404
        assert set(told(ask("/healthz", authorization=wrong))) == {"status"}
    right = f"Bearer {token}"
    assert ask("/metricsz", "kg.example.org", "10.0.0.9", authorization=right).status_code == 200
    assert "version" in told(ask("/healthz", authorization=right))
    monkeypatch.setenv(health.METRICS, "off")
    assert ask("/metricsz", authorization=right).status_code == 404


def test_without_a_token_nobody_has_it(monkeypatch, tmp_path):
    monkeypatch.setenv(SETTING, str(write_settings(tmp_path)))
    monkeypatch.setenv(health.METRICS, "on")
    for given in ("Bearer ", "Bearer", ""):
        assert ask("/metricsz", authorization=given).status_code == 404
