"""Whatever a small file makes of itself, reading it takes no gigabytes."""

import os
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.files import bounded_reading as bounds
from kgdash.files.bounded_reading import (
    bound_readings,
    bounded_memory,
    bounded_reading,
    reads,
)
from kgdash.files.memory import data_memory
from tests.support.paths import ROOT

GIB = 2**30


@pytest.fixture(autouse=True)
def _bounding(monkeypatch):
    monkeypatch.setattr(bounds, "_state", {"bounds": False, "reading": False})
    monkeypatch.setenv("KGDASH_MEMORY", "2G")
    bound_readings()


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small"
    path.write_bytes(bytes(1000))
    return path


@reads
def make(source, size, library=np):
    """Ask for so many bytes, which nobody fills."""
    return library.empty(size // 4, dtype=library.float32)


@pytest.mark.parametrize("library", [np, torch])
def test_a_small_file_may_take_one_gib(small, library):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert len(make(small, GIB // 2, library))
    with pytest.raises(KgdashError, match=r"small: to read it takes more than 1 GiB.* 1,000 bytes"):
        make(small, 2 * GIB, library)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert len(np.empty(GIB))


def test_a_larger_file_forty_times_its_size(tmp_path):
    path = tmp_path / "folder" / "large"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(GIB // 16)
    for source in (path, path.parent, str(path)):
        assert len(make(source, 2 * GIB))
        with pytest.raises(KgdashError, match=r"2\.5 GiB"):
            make(source, 3 * GIB)


@pytest.mark.parametrize("most", [2 * GIB, 1])
def test_any_work_may_take_so_much_and_one_gib(most):
    with bounded_memory(most, "so much"):
        assert len(np.empty(GIB // 2, np.int8))
    with pytest.raises(KgdashError, match="so much"), bounded_memory(most, "so much"):
        np.empty(most + 2 * GIB, np.int8)
    assert len(np.empty(4 * GIB, np.int8))


def test_within_another_bound_that_holds():
    inner = bounded_memory(8 * GIB, "inner")
    with pytest.raises(KgdashError, match="outer"), bounded_memory(GIB, "outer"), inner:
        np.empty(2 * GIB, np.int8)


def test_what_is_checked_otherwise_may_raise_another_bound(small):
    """An honest RGCN of FB15k-237's size was refused as it was opened."""
    with bounded_reading(small), bounded_memory(3 * GIB, "inner", raises=True):
        assert len(np.empty(2 * GIB, np.int8))
    with bounded_reading(small):
        before = resource.getrlimit(resource.RLIMIT_DATA)
        with bounded_memory(3 * GIB, "inner", raises=True):
            assert resource.getrlimit(resource.RLIMIT_DATA) > before
        assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_a_file_larger_than_all_memory(monkeypatch, small):
    monkeypatch.setattr(bounds, "_size", lambda _: 2**63)
    assert len(make(small, GIB))


def test_what_was_handed_in_counts_not_the_path_that_it_has_elsewhere(small):
    with pytest.raises(KgdashError, match="the file: to read it takes more than 1 GiB"):
        reads(lambda path, content: np.empty(2 * GIB, np.int8))(small, content=b"abc")


def test_the_setting_raises_it(small, monkeypatch):
    monkeypatch.setenv("KGDASH_MEMORY", "6G")
    assert len(make(small, 2 * GIB))


def test_a_lower_limit_of_the_user_s_stays(small):
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    lower = data_memory() + GIB // 4
    resource.setrlimit(resource.RLIMIT_DATA, (lower, hard))
    try:
        with bounded_reading(small):
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == lower
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def test_a_small_setting_is_of_blocks(small, monkeypatch):
    monkeypatch.setenv("KGDASH_MEMORY", "64M")
    assert len(make(small, GIB // 2))


@pytest.mark.parametrize("inner", ["large", "small"])
def test_a_reading_within_another_has_the_larger_bound(small, tmp_path, inner):
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(GIB // 16)
    outer = large if inner == "small" else small
    with bounded_reading(outer):
        assert len(make(tmp_path / inner, 2 * GIB))
    with pytest.raises(KgdashError, match=r"takes more than"), bounded_reading(outer):
        make(tmp_path / inner, 3 * GIB)


def test_others_are_not_bounded(small):
    found = []
    thread = threading.Thread(target=lambda: found.append(make(small, 2 * GIB)))
    thread.start()
    thread.join()
    assert len(found) == 1, "the limit is the process's: only its main thread works alone"
    assert len(make("no such file", 2 * GIB))
    bounds._state["bounds"] = False
    assert len(make(small, 2 * GIB)), "a library asks nobody's process to be bounded"


def test_other_errors_stay_what_they_are(small):
    with pytest.raises(RuntimeError, match=r"^mine$"), bounded_reading(small):
        raise RuntimeError("mine")
    with pytest.raises(MemoryError), bounded_reading("no such file"):
        raise MemoryError


def test_threads_with_large_stacks_begin_within_it():
    """Shells set up for Fortran have 1 GiB and more: a thread's start never returned."""
    code = (
        "import threading\n"
        "from kgdash.files.bounded_reading import bound_readings, bounded_reading\n"
        "bound_readings()\n"
        "with bounded_reading(b'x'):\n"
        "    thread = threading.Thread(target=print, args=('began',))\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (5 * GIB // 4, hard)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (found.stdout, found.stderr) == ("began\n", "")


def test_a_thread_that_can_not_begin_is_no_exception(small):
    @reads
    def begin(path):
        raise RuntimeError("can't start new thread")

    with pytest.raises(KgdashError, match="small: to read it takes more than 1 GiB"):
        begin(small)


def test_arrow_takes_no_gibibyte_ahead():
    """At its first use within a reading nothing was left for it: small files were refused."""
    code = (
        "import kgdash\n"
        "from kgdash.files.memory import data_memory\n"
        "import pyarrow, pyarrow.parquet, io\n"
        "before = data_memory()\n"
        "pyarrow.parquet.write_table(pyarrow.table({'a': ['b']}), io.BytesIO())\n"
        "print(data_memory() - before)\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MIMALLOC")}
    environment["PYTHONPATH"] = str(ROOT)
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert int(told.stdout) < GIB // 4


def test_folders_however_deep(tmp_path):
    deepest = tmp_path
    for _ in range(1_200):
        deepest /= "x"
        deepest.mkdir()
    (deepest / "file").write_bytes(bytes(2**26))
    try:
        assert make(tmp_path, 2**31).nbytes == 2**31  # forty times the file's size
    finally:
        subprocess.run(["rm", "-r", tmp_path / "x"], check=True)  # which pytest's own can not
