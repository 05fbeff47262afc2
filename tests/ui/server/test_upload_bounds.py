"""Uploads beyond the limits of the settings are refused unread."""

import asyncio
import time
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from kgdash.serving.settings import SETTING
from kgdash.ui.runtime.visitors import OWNER
from kgdash.ui.server import upload_bounds
from kgdash.ui.server.upload_bounds import UploadBounds
from tests.support.own_loop import run_apart

PATH = "/_stcore/upload_file/{session}/{file}"


@pytest.fixture
def client(tmp_path, monkeypatch):
    """Return a browser before a server that keeps what is uploaded, as Streamlit does."""
    (tmp_path / "server.toml").write_text("[limits]\nfiles = 2\ntotal_mib = 1")
    monkeypatch.setenv(SETTING, str(tmp_path / "server.toml"))
    files = MemoryUploadedFileManager("/_stcore/upload_file")
    ended: set[str] = set()
    kinds: list[str] = []
    runtime = SimpleNamespace(
        uploaded_file_mgr=files, is_active_session=lambda name: name not in ended
    )
    monkeypatch.setattr(upload_bounds, "get_instance", lambda: runtime)

    async def keep(request):
        kinds.append(request.headers.get("content-type"))
        content = await request.body()
        about = request.path_params
        files.add_file(about["session"], UploadedFileRec(about["file"], "n", "t", content))
        return PlainTextResponse("kept")

    async def drop(request):
        files.remove_file(request.path_params["session"], request.path_params["file"])
        return PlainTextResponse("dropped")

    routes = [Route(PATH, keep, methods=["PUT"]), Route(PATH, drop, methods=["DELETE"])]
    routes.append(Route("/other", lambda _: PlainTextResponse("kept"), methods=["PUT"]))
    client = TestClient(UploadBounds(Starlette(routes=routes)))
    client.ended, client.files, client.kinds = ended, files, kinds
    return client


def put(client, session: str, file: str, size: int) -> int:
    return client.put(PATH.format(session=session, file=file), content=b"x" * size).status_code


def test_files_of_one_visit(client):
    assert [put(client, "a", name, 10) for name in "123"] == [200, 200, 413]
    assert put(client, "b", "1", 10) == 200
    client.delete(PATH.format(session="a", file="1"))
    assert put(client, "a", "3", 10) == 200


def test_what_comes_in_parts_is_refused_whatever_length_it_says(client):
    headers = {"Content-Length": "1", "Transfer-Encoding": "chunked"}
    path = PATH.format(session="a", file="1")
    assert client.put(path, content=b"x" * 2**21, headers=headers).status_code == 411


def test_all_visits_together(client):
    assert put(client, "a", "1", 2**19) == 200
    assert put(client, "b", "1", 2**19 + 1) == 413
    assert put(client, "b", "1", 2**19) == 200
    assert put(client, "c", "1", 1) == 413


def test_what_is_under_way_counts(client):
    """While one upload is read, another one may not take the same room."""
    door, seen = client.app, []

    async def meanwhile(scope, receive, send):
        if not seen:
            seen.append(None)
            seen.append(put(TestClient(door), "b", "1", 2**19 + 1))
        await inner(scope, receive, send)

    inner, door._app = door._app, meanwhile
    assert put(client, "a", "1", 2**19) == 200
    assert seen[1] == 413
    assert put(client, "b", "1", 2**19) == 200


def test_what_comes_at_once_counts_as_files(client):
    door, seen = client.app, []

    async def meanwhile(scope, receive, send):
        if len(seen) < 4:
            seen.append(None)
            seen.append(put(TestClient(door), "a", f"n{len(seen)}", 10))
        await inner(scope, receive, send)

    inner, door._app = door._app, meanwhile
    assert put(client, "a", "1", 10) == 200
    assert 413 in seen
    assert len(client.files.file_storage["a"]) == 2


def test_what_comes_after_the_visits_end_is_forgotten(client):
    """It would take its room until the server ends."""
    put(client, "b", "1", 10)
    client.ended.add("a")
    put(client, "a", "1", 10)
    assert [session for session, files in client.files.file_storage.items() if files] == ["b"]


def test_a_size_must_be_said(client):
    path = PATH.format(session="a", file="1")
    assert client.put(path, content=iter([b"x"])).status_code == 411
    for size in ("-1", "x", "1e3"):
        assert client.put(path, content=b"x", headers={"content-length": size}).status_code == 411


def test_nothing_else_is_bounded(client, monkeypatch):
    assert client.put("/other", content=b"x" * 2**21).status_code == 200
    monkeypatch.delenv(SETTING)
    assert put(client, "a", "1", 2**21) == 200


def test_one_visitor_takes_a_quarter(client, tmp_path, monkeypatch):
    """All their tabs together: else nobody else could upload anything."""
    (tmp_path / "other.toml").write_text("[limits]\nmib = 1\ntotal_mib = 6")
    monkeypatch.setenv(SETTING, str(tmp_path / "other.toml"))
    door = client.app

    def puts(owner: str, session: str, size: int) -> int:
        async def of(scope, receive, send):
            await door({**scope, OWNER: owner}, receive, send)

        return put(TestClient(of), session, "1", size)

    assert [puts("ada", name, 2**19) for name in "abc"] == [200, 200, 413]
    assert [puts("bob", name, 2**19) for name in "de"] == [200, 200]
    client.delete(PATH.format(session="a", file="1"))
    assert puts("ada", "c", 2**19) == 200


def test_a_body_is_one_part(client):
    def put_parts(name: str, kind: str, content: bytes) -> int:
        path = PATH.format(session=name, file="1")
        return client.put(path, content=content, headers={"content-type": kind}).status_code

    kind, head = "multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data\r\n\r\n"
    assert put_parts("a", kind, head + b"x--y\r\n--\r\n" * 100 + b"\r\n--b--\r\n") == 200
    assert put_parts("b", kind, head + b"\r\n--bx" * 100 + b"\r\n--b--\r\n") == 400
    assert put_parts("c", "application/x-www-form-urlencoded", b"a=" + b"%" * 100) == 415
    assert put_parts("d", 'multipart/form-data; charset=punycode; boundary="b"', head) == 200
    assert client.kinds[-1] == 'multipart/form-data; boundary="b"'
    assert set(client.files.file_storage) == {"a", "d"}


def test_an_upload_that_ends_midway_is_no_error(client):
    """Each wrote 5 KB of tracebacks to the log: 600 in three seconds."""
    said = iter([{"type": "http.request", "body": b"half", "more_body": True}])

    async def receive():
        return next(said, {"type": "http.disconnect"})

    run_apart(_uploaded(client, receive))
    assert put(client, "a", "2", 100) == 200


def test_one_of_which_nothing_comes_is_ended(client, monkeypatch):
    """Sixteen of them had all turns of a visitor, and what waited behind had connections."""
    monkeypatch.setattr(upload_bounds, "_SILENCE", 1.0)
    started, came = time.monotonic(), []

    async def receive():
        await asyncio.sleep(0.01 if len(came) < 150 else 60)
        came.append(b"x")
        return {"type": "http.request", "body": b"x", "more_body": True}

    assert run_apart(_uploaded(client, receive))[0]["status"] == 408
    assert len(came) == 150
    assert 2.4 < time.monotonic() - started < 50
    assert put(client, "a", "2", 100) == 200


async def _uploaded(client, receive) -> list[dict]:
    """Return what is answered to an upload."""
    answers: list[dict] = []
    scope = {
        "type": "http",
        "method": "PUT",
        "path": PATH.format(session="a", file="1"),
        "query_string": b"",
        "headers": [(b"content-length", b"100"), (b"content-type", b"application/octet-stream")],
    }

    async def send(message):
        answers.append(message)

    await client.app(scope, receive, send)
    return answers
