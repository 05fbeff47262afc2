"""What every test gets: a cache of its own; and the bundled runs, loaded once."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.support.cli import files_in, run_cli
from tests.support.paths import ROOT, SHARED

# Workers share the cores: threads of their own would wait for one another. Before torch is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from streamlit.components.v2 import manifest_scanner

from kgdash.runs import Run
from kgdash.runs.loading import load

# The same examples every time: a change is judged by itself, not by luck. Look for new ones with
# --hypothesis-profile=search now and then.
settings.register_profile("kgdash", deadline=None, database=None, max_examples=25, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=500)
settings.load_profile("kgdash")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels in the background, once and not in every worker."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        code = "from kgdash.engine.warm import warm; warm()"
        subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch) -> Path:
    """Keep every test's tables and settings apart from the user's and from other tests'."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("KGDASH_CACHE", str(folder))
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path_factory.mktemp("data")))
    return folder


@pytest.fixture(scope="session", autouse=True)
def _streamlit_looks_for_components_once() -> Iterator[None]:
    """Each run of an AppTest makes a server anew, which reads the manifests of all packages."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session")
def bundled() -> Callable[[str], Run]:
    """Load a bundled run, once per session."""
    return cache(load)


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of benchmark graphs, or skip."""
    if not SHARED.is_dir():
        pytest.skip(f"no benchmark graphs in {SHARED}")
    return SHARED


@pytest.fixture
def call(monkeypatch, capsys):
    """Run a command in this process and return its output; errors are for `refused`."""

    def run_command(*arguments: object) -> str:
        code, out, err = run_cli(monkeypatch, capsys, arguments)
        assert (code, err) == (0, "")
        return out

    yield run_command
    logging.disable(logging.NOTSET)


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Run a command that must be refused: exit code 2, one message, nothing written."""

    def run_command(*arguments: object) -> str:
        before = files_in(tmp_path)
        code, out, err = run_cli(monkeypatch, capsys, arguments)
        assert code == 2, (code, out, err)
        assert err.startswith("kgdash: ")
        assert err.count("kgdash: ") == 1
        assert len(err.splitlines()) == 1, err
        assert "Traceback" not in out + err
        assert out == ""
        assert files_in(tmp_path) == before
        return err.removeprefix("kgdash: ").rstrip("\n")

    yield run_command
    logging.disable(logging.NOTSET)
