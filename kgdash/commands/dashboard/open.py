"""``kgdash open``: the dashboard on a run."""

import errno
import ipaddress
import os
import runpy
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from kgdash.commands.options.common import DatasetOption
from kgdash.commands.options.output import load_run
from kgdash.errors import KgdashError
from kgdash.runs.bundled import FOLDER_CHOICE, default_run
from kgdash.runs.library import named_runs

_FIRST_PORT = 8501

#: what a port cannot be had at where a machine speaks no IPv6
_NO_IPV6 = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)

_LOOPBACK = {"127.0.0.1": socket.AF_INET, "::1": socket.AF_INET6}

#: held until the process ends
_held: list[socket.socket] = []


def open_app(
    run: Annotated[
        str, typer.Argument(help="A name (kgdash runs), a safe directory or a PyKEEN one.")
    ] = default_run(),
    dataset: DatasetOption = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help=f"By default the first free one from {_FIRST_PORT}."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = (
        False
    ),
) -> None:
    """Start the dashboard on a run and open it in the browser; Ctrl-C ends it."""
    load_run(run, dataset)
    port = free_port(port)
    address = f"http://localhost:{port}/{run_query(run, dataset)}"
    threading.Thread(target=_announce, args=(address, no_browser), daemon=True).start()
    run_dashboard({"server.port": port})


def run_dashboard(settings: Mapping[str, object]) -> None:
    """Serve the dashboard until the process is ended.

    :param settings: of Streamlit, in place of those in files and in the environment; of a list,
        each value counts
    """
    sys.argv = ["streamlit", "run", str(dashboard())]
    always = {
        "server.headless": "true",
        "logger.hideWelcomeMessage": "true",
        "logger.enableRich": "false",
    }
    for name, value in (always | dict(settings)).items():
        values = value if isinstance(value, tuple) else (value,)
        sys.argv += [f"--{name}={each}" for each in values]
    # By name, as Streamlit itself: commands know nothing of either.
    import_module("kgdash.ui.server.protection").leave_files_of_this_folder(dashboard())
    # In this process, which has imported what takes seconds; Streamlit handles the signals.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def dashboard() -> Path:
    """Return the path of app.py: beside the package in a clone, inside it where it is installed."""
    package = Path(__file__).parents[2]
    inside = package / "dashboard" / "app.py"
    return inside if inside.is_file() else package.parent / "app.py"


def run_query(run: str, dataset: str | None = None) -> str:
    """Return the part of an address, "?" and on, with which the dashboard opens on a run."""
    if run in named_runs():
        return "?" + urlencode({"run": run})
    parts = {"run": FOLDER_CHOICE, "folder": str(Path(run).resolve())}
    if dataset is not None:
        parts["dataset"] = str(Path(dataset).resolve()) if Path(dataset).is_dir() else dataset
    return "?" + urlencode(parts)


def free_port(wanted: int | None) -> int:
    """Return the port, or the first free one from 8501.

    :raises KgdashError: if it is taken
    """
    for port in range(_FIRST_PORT, 65536) if wanted is None else (wanted,):
        try:
            with socket.create_server(("localhost", port)):
                hold_loopback(os.environ.get("STREAMLIT_SERVER_ADDRESS", "localhost"), port)
                return port
        except (OSError, KgdashError):
            continue
    raise KgdashError(f"port {wanted or _FIRST_PORT} is taken; give another one with --port")


def hold_loopback(address: str, port: int) -> None:
    """Let nobody else on this machine be localhost at the port of a server that listens elsewhere.

    Streamlit's localhost is 127.0.0.1 alone, and browsers ask at ::1 first. Nothing listens at what
    is held, so that they ask at the other next.

    :raises KgdashError: if it is taken, and the server is to be found at localhost
    """
    taken, is_asked_for = _loopback_of(address)
    for host in _LOOPBACK.keys() - taken:
        try:
            held = socket.socket(_LOOPBACK[host])
            held.bind((host, port))
        except OSError as error:
            if is_asked_for and error.errno not in _NO_IPV6:
                raise KgdashError(
                    f"port {port} is somebody else's at {host}, where browsers look for localhost"
                ) from error
        else:
            _held.append(held)


def _loopback_of(address: str) -> tuple[set[str], bool]:
    """Return which of `_LOOPBACK` who listens at an address has, and whether localhost is it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # a name, which Streamlit takes as one of IPv4
        try:
            found = ipaddress.ip_address(socket.gethostbyname(address))
        except OSError:
            return set(_LOOPBACK), False
    if found.is_unspecified:
        return ({"127.0.0.1"} if found.version == 4 else set(_LOOPBACK)), True
    return {str(found)}, found.is_loopback


def _announce(address: str, no_browser: bool) -> None:
    """Print the address once the server of this process listens, and open it."""
    while not _listens():
        time.sleep(0.1)
    print(f"{address}\nCtrl-C ends the dashboard.", flush=True)
    if not no_browser:
        webbrowser.open(address)


def _listens() -> bool:
    """Tell whether Streamlit has its port: another account's server may answer there instead."""
    runtime = import_module("streamlit.runtime")
    return runtime.exists() and runtime.get_instance().state.name not in ("INITIAL", "STOPPED")
