"""Two processes, or threads, that want one table: one computes it, and both get it."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from kgdash.files.cache_folder import sweep
from kgdash.files.table_cache import cached_table
from tests.support.kept_tables import TABLE, never
from tests.support.paths import ROOT


def await_file(path, *processes):
    """Wait until a process has written a file; they must not end before."""
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not appear"
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)


@pytest.fixture
def start(tmp_path, request):
    """Start processes that compute one table; it takes until the file "go" appears."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "import pandas as pd\n"
        "from kgdash.files import table_cache as store\n"
        "store._WORTH_KEEPING = -1\n"
        "folder, name = Path(sys.argv[1]), sys.argv[2]\n"
        "def compute():\n"
        "    (folder / f'{name} computes').touch()\n"
        "    while not (folder / 'go').exists(): time.sleep(0.01)\n"
        "    return pd.DataFrame({'x': [1, 2, 3]})\n"
        "def waits(done, total): (folder / f'{name} waits').touch()\n"
        "table = store.cached_table({'n': 1}, compute, progress=waits)\n"
        "assert table.x.tolist() == [1, 2, 3]\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = []

    def one(name):
        command = [sys.executable, "-c", code, str(tmp_path), name]
        started.append(subprocess.Popen(command, env=environment))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()


class TestTwoProcesses:
    def test_one_computes_and_both_get_it(self, start, tmp_path, cache_folder):
        first = start("first")
        await_file(tmp_path / "first computes", first)
        second = start("second")
        await_file(tmp_path / "second waits", first, second)
        (tmp_path / "go").touch()
        assert [process.wait(timeout=120) for process in (first, second)] == [0, 0]
        assert not (tmp_path / "second computes").exists()
        assert [path.suffix for path in cache_folder.iterdir()] == [".parquet"]

    def test_the_second_computes_if_the_first_is_killed(self, start, tmp_path, cache_folder):
        first = start("first")
        await_file(tmp_path / "first computes", first)
        second = start("second")
        await_file(tmp_path / "second waits", first, second)
        first.kill()
        await_file(tmp_path / "second computes", second)
        (tmp_path / "go").touch()
        assert second.wait(timeout=120) == 0
        assert [path.suffix for path in cache_folder.iterdir()] == [".parquet"]

    @pytest.mark.usefixtures("keep_all")
    def test_waiting_can_be_given_up(self, start, tmp_path):
        first = start("first")
        await_file(tmp_path / "first computes", first)

        def give_up(done, total):
            assert (done, total) == (0, 1)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            cached_table({"n": 1}, never, progress=give_up)
        (tmp_path / "go").touch()
        assert first.wait(timeout=120) == 0
        assert cached_table({"n": 1}, never)["x"].tolist() == [1, 2, 3]

    def test_another_table_does_not_wait(self, start, tmp_path):
        first = start("first")
        await_file(tmp_path / "first computes", first)
        pd.testing.assert_frame_equal(cached_table({"n": 2}, lambda: TABLE), TABLE)

    def test_clearing_while_the_other_reads_and_writes(self, cache_folder):
        code = (
            "import pandas as pd\n"
            "from kgdash.files import table_cache as store\n"
            "store._WORTH_KEEPING = -1\n"
            "for n in range(40):\n"
            "    make = lambda: pd.DataFrame({'x': [n % 4] * 5000})\n"
            "    table = store.cached_table({'n': n % 4}, make)\n"
            "    assert (table.x == n % 4).all()\n"
            "    if n % 7 == 0: store.clear_cache()\n"
            "    store.list_cache()\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        both = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(2)]
        assert [process.wait(timeout=120) for process in both] == [0, 0]
        sweep()
        assert {path.suffix for path in cache_folder.iterdir()} == {".parquet"}
        for path in cache_folder.iterdir():
            assert len(pd.read_parquet(path)) == 5000


def test_threads_wait_for_one_another(keep_all):
    entered, go, computed = threading.Event(), threading.Event(), []

    def compute():
        computed.append(1)
        entered.set()
        assert go.wait(60)
        return TABLE

    def wait(done, total):
        go.set()

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cached_table, {"a": 1}, compute)
        assert entered.wait(60)
        second = threads.submit(cached_table, {"a": 1}, never, None, wait)
        pd.testing.assert_frame_equal(first.result(60), second.result(60))
    assert computed == [1]
