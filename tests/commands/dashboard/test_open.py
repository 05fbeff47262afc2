"""The dashboard starts on a run, from a clone as from an installed package."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.commands.dashboard import open as open_command
from kgdash.commands.dashboard.open import dashboard, free_port, run_dashboard, run_query
from kgdash.errors import KgdashError
from kgdash.runs.bundled import DEMO
from tests.support.paths import ROOT


def test_a_bad_run_is_refused_before_anything_starts(refused, tmp_path):
    assert "unknown run 'nope'" in refused("open", "nope")
    assert "is not a run" in refused("open", tmp_path)
    assert "leave the dataset out" in refused("open", "umls-transe", "--dataset", "umls")


def test_a_port_that_is_taken_is_refused(refused):
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert refused("open", "--port", port) == (
            f"port {port} is taken; give another one with --port"
        )


def test_nobody_else_is_localhost(monkeypatch):
    """Browsers ask at ::1 first: another account had what was sent, a log-in's cookie, too."""
    held: list[socket.socket] = []
    monkeypatch.setattr(open_command, "_held", held)
    port = free_port(None)
    assert [each.getsockname()[1] for each in held] == [port]
    with socket.socket(socket.AF_INET6) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(("::1", port))
        with pytest.raises(ConnectionRefusedError):
            other.connect(("::1", port))
    held.pop().close()
    with socket.create_server(("::1", port), family=socket.AF_INET6):
        with pytest.raises(KgdashError, match=f"port {port} is taken"):
            free_port(port)
        assert free_port(None) != port
    for each in held:
        each.close()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("localhost", ["::1"]),
        ("0.0.0.0", ["::1"]),
        ("::1", ["127.0.0.1"]),
        ("::", []),
        ("0:0:0:0:0:0:0:1", ["127.0.0.1"]),
        ("127.8.8.8", ["127.0.0.1", "::1"]),
        ("10.0.0.5", ["127.0.0.1", "::1"]),
        ("no.such.name.invalid", []),
    ],
)
def test_what_a_server_does_not_listen_at_is_held(address, expected, monkeypatch):
    monkeypatch.setattr(open_command, "_held", held := [])
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    open_command.hold_loopback(address, port)
    assert sorted(each.getsockname()[0] for each in held) == expected
    for each in held:
        each.close()


def test_a_port_of_localhost_may_be_somebody_else_s(monkeypatch):
    """Two servers at addresses of a network may have the same port."""
    monkeypatch.setattr(open_command, "_held", held := [])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KgdashError, match=f"port {port} is somebody else's at 127.0.0.1"):
            open_command.hold_loopback("::1", port)
        open_command.hold_loopback("10.0.0.5", port)
    for each in held:
        each.close()


def test_a_machine_may_speak_no_ipv6(monkeypatch):
    def none(*_):
        raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")

    monkeypatch.setattr(open_command, "_held", held := [])
    monkeypatch.setattr(socket, "socket", none)
    open_command.hold_loopback("localhost", 1)
    assert not held


def test_the_browser_comes_to_the_server_of_this_process(monkeypatch):
    """Another account had the port by the time that Streamlit asked for it."""
    runtime = SimpleNamespace(state=SimpleNamespace(name="INITIAL"))
    monkeypatch.setattr("streamlit.runtime.exists", lambda: False)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: runtime)
    assert not open_command._listens()
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)
    assert not open_command._listens()
    runtime.state.name = "NO_SESSIONS_CONNECTED"
    assert open_command._listens()


@pytest.mark.parametrize("source", ["umls-rotate", "a folder & more"])
def test_the_address_opens_the_app_on_the_run(source, tmp_path, monkeypatch):
    shutil.copytree(DEMO / "umls-rotate", tmp_path / "a folder & more")
    monkeypatch.chdir(tmp_path)
    query = run_query(source)
    monkeypatch.chdir("/")
    app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=60)
    app.query_params.update(parse_qsl(query.removeprefix("?"), strict_parsing=True))
    app.run()
    assert not app.exception
    assert app.sidebar.caption[0].value.startswith("**RotatE** on **umls**")


def test_a_dataset_is_part_of_the_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    named = [dict(parse_qsl(run_query("run", d)[1:])) for d in ("nations", "data")]
    assert [n["dataset"] for n in named] == ["nations", str(tmp_path / "data")]
    assert {n["folder"] for n in named} == {str(tmp_path / "run")}


def test_it_serves_and_ends(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    # Loading the run is tested above; it would take most of the time here.
    code = "from kgdash import cli; from kgdash.commands.dashboard import open; "
    code += "open.load_run = lambda run, dataset: None; cli.main()"
    command = [sys.executable, "-c", code, "open", "umls-rotate", "--no-browser", f"--port={port}"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout.readline() == f"http://localhost:{port}/?run=umls-rotate\n"
            health = f"http://localhost:{port}/_stcore/health"
            with urllib.request.urlopen(health, timeout=20) as answer:
                assert answer.read() == b"ok"
        finally:
            server.terminate()
        assert server.wait(timeout=60) == -signal.SIGTERM


def test_an_installed_package_holds_the_dashboard(tmp_path):
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    inside = tmp_path / "kgdash" / "dashboard"
    assert {p.name for p in inside.iterdir()} == {"app.py", "dashboard.py", "pages", ".streamlit"}
    assert {p.name for p in (inside / "pages").iterdir()} == {
        p.name for p in (ROOT / "pages").glob("*.py")
    }
    built = {p.relative_to(tmp_path / "kgdash") for p in (tmp_path / "kgdash").rglob("*")}
    here = {p.relative_to(ROOT / "kgdash") for p in (ROOT / "kgdash").rglob("*") if p.is_file()}
    assert not {p for p in here if "__pycache__" not in p.parts} - built
    code = "from kgdash.commands.dashboard.open import dashboard; print(dashboard())"
    shown = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    assert shown.strip() == str(inside / "app.py")
    assert dashboard() == ROOT / "app.py"


def test_an_editable_installation_names_no_place_beside_where_it_is_called(tmp_path):
    """For packages without __init__.py setuptools puts a relative path before all modules."""
    wheel = [sys.executable, "setup.py", "-q", "editable_wheel", "--dist-dir", str(tmp_path)]
    subprocess.run(wheel, cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as packed:
        (finder,) = (name for name in packed.namelist() if name.endswith("_finder.py"))
        source = packed.read(finder).decode()
    assert "NAMESPACES: dict[str, list[str]] = {}" in source
    assert f"'kgdash': '{ROOT / 'kgdash'}'" in source


def test_settings_and_secrets_of_the_folder_here_are_left(tmp_path, monkeypatch):
    """A stranger's had foreign pages drive the dashboard (`corsAllowedOrigins`)."""
    from streamlit import config

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(config, "get_config_files", config.get_config_files)
    assert any(Path(each).is_relative_to(tmp_path) for each in config.get_config_files("x.toml"))
    started = []
    monkeypatch.setattr("runpy.run_module", lambda *given, **named: started.append(given))
    run_dashboard({"server.port": 1})
    assert started
    assert "--logger.enableRich=false" in sys.argv
    for name in ("config.toml", "secrets.toml"):
        found = [Path(each) for each in config.get_config_files(name)]
        assert not [each for each in found if each.is_relative_to(tmp_path)]
        assert dashboard().parent / ".streamlit" / name in found
