"""What every test gets: a cache of its own; and the bundled runs, loaded once.

What takes seconds to import waits until a test asks for it: pytest-xdist imports this file in one
process more than run tests.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.app_tests import quick_app_tests
from tests.support.paths import ROOT, SHARED

# Workers share the cores: threads of their own would wait for one another. Before torch is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Pages open on a small graph, unless a test names another run.
os.environ["KGDASH_DEFAULT_RUN"] = "umls-transe"

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from kgdash.runs import Run

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Give each file to one worker, for its fixtures, and all that drive the browser to one.

    These come early, as they take longest together.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "browser" if nodeid.startswith("tests/browser/") else nodeid.split("::")[0]

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session")
def common_folder(tmp_path_factory) -> Path:
    """Return a folder that all workers of this run of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def new_folder(tmp_path_factory) -> Callable[[], Path]:
    """Make empty folders, without looking through all that there are for a free name."""
    base, numbers = tmp_path_factory.mktemp("own"), count()

    def make() -> Path:
        folder = base / str(next(numbers))
        folder.mkdir()
        return folder

    return make


#: rooms whose tests ask the same tables of the same runs: only what differs is computed anew
_SHARING = ("commands", "pages", "reports", "ui")


@pytest.fixture(autouse=True)
def cache_folder(request, common_folder, new_folder, monkeypatch) -> Path:
    """Keep tables and settings apart from the user's and, mostly, from other tests'."""
    room = request.path.relative_to(ROOT / "tests").parts[0]
    shares = room in _SHARING and request.node.get_closest_marker("own_cache") is None
    folder = common_folder / "tables" if shares else new_folder()
    monkeypatch.setenv("KGDASH_CACHE", str(folder))
    monkeypatch.setenv("KGDASH_DATA", str(new_folder()))
    monkeypatch.setenv("KGDASH_PREPARE", "off")
    monkeypatch.setenv("KGDASH_WORKERS", "0")
    return folder


@pytest.fixture
def as_visitor(monkeypatch) -> Callable[..., None]:
    """Let this process work for somebody else than the person at this machine."""
    from kgdash.files import visitor

    def act(**about) -> None:
        monkeypatch.setattr(visitor, "_source", [lambda: visitor.Visitor(**about)])

    return act


@pytest.fixture(scope="session", autouse=True)
def _app_tests_are_quick() -> Iterator[None]:
    with quick_app_tests():
        yield


@pytest.fixture(scope="session")
def bundled() -> Callable[[str], Run]:
    """Load a bundled run, once per session."""
    from kgdash.runs import loading
    from kgdash.runs.bundled import bundled_names

    load = loading.load
    once = cache(load)

    def load_once(source, dataset=None):
        if dataset is None and str(source) in bundled_names():
            return once(str(source))
        return load(source, dataset)

    return load_once


@pytest.fixture
def _bundled_are_loaded(bundled, monkeypatch) -> None:
    """Commands take the bundled runs as they were loaded, since loading them has its own tests."""
    monkeypatch.setattr("kgdash.runs.loading.load", bundled)


@pytest.fixture(scope="session")
def pykeen_directory(common_folder) -> Path:
    """Train a tiny model on Nations and save it as PyKEEN does, once for all workers; read only."""
    from filelock import FileLock

    from tests.support.tiny_runs import save_pykeen_directory

    folder = common_folder / "pykeen" / "tiny"
    with FileLock(common_folder / "pykeen.lock"):
        return folder if folder.is_dir() else save_pykeen_directory(folder)


@pytest.fixture
def shared_data() -> Path:
    """Return the folder of benchmark graphs, or skip."""
    if not SHARED.is_dir():
        pytest.skip(f"no benchmark graphs in {SHARED}")
    return SHARED


@pytest.fixture
def call(monkeypatch, capsys, _bundled_are_loaded):
    """Run a command in this process and return its output; errors are for `refused`."""

    from tests.support.cli import run_cli

    def run_command(*arguments: object, told: str = "") -> str:
        code, out, err = run_cli(monkeypatch, capsys, arguments)
        assert (code, err) == (0, told)
        return out

    yield run_command
    logging.disable(logging.NOTSET)


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path, _bundled_are_loaded):
    """Run a command that must be refused: exit code 2, one message, nothing written."""

    from tests.support.cli import files_in, run_cli

    def run_command(*arguments: object, told: str = "") -> str:
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


@pytest.fixture
def keep_all(monkeypatch) -> None:
    """Keep on disk also what computes in no time."""
    from kgdash.files import table_cache

    monkeypatch.setattr(table_cache, "_WORTH_KEEPING", -1)
