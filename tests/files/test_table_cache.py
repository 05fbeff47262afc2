"""Tables on disk: kept whole, read again, and never a reason to fail."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

import kgdash
from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.files.atomic import draft_folder
from kgdash.files.cache_folder import cache_directory, cache_limit, sweep
from kgdash.files.lock import hold_lock
from kgdash.files.table_cache import cache_size, cached_table, clear_cache, list_cache, stored_table
from tests.support.fakes import fake_run, make_graph, random_scorer
from tests.support.paths import ROOT

TABLE = pd.DataFrame({"head": np.arange(3), "side": "tail", "relik": [0.5, np.nan, 1.0]})


@pytest.fixture
def keep_all(monkeypatch):
    """Keep also what computes in no time."""
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)


def never():
    raise AssertionError("computed again")


def test_the_folder_is_where_the_setting_says(cache_folder, monkeypatch):
    assert cache_directory() == cache_folder
    monkeypatch.delenv("KGDASH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory().name == "kgdash"
    assert cache_directory() != cache_folder


@pytest.mark.usefixtures("keep_all")
class TestKept:
    def test_read_again_as_it_was(self):
        made = cached_table({"a": 1}, lambda: TABLE)
        again = cached_table({"a": 1}, never)
        pd.testing.assert_frame_equal(made, TABLE)
        pd.testing.assert_frame_equal(again, TABLE)

    def test_keys_tell_tables_apart(self):
        cached_table({"a": 1, "b": 2}, lambda: TABLE)
        cached_table({"b": 2, "a": 1}, never)  # the order of a key means nothing
        other = cached_table({"a": 1, "b": 3}, lambda: TABLE.head(1))
        assert len(other) == 1
        assert cache_size()[0] == 2

    def test_size_and_clearing(self, cache_folder, monkeypatch):
        assert cache_size() == (0, 0)
        cached_table({"a": 1}, lambda: TABLE)
        count, size = cache_size()
        assert count == 1
        assert size == sum(p.stat().st_size for p in cache_folder.iterdir()) > 0
        synced, fsync = [], os.fsync

        def seen(handle):
            synced.append((os.readlink(f"/proc/self/fd/{handle}"), list(cache_folder.iterdir())))
            fsync(handle)

        monkeypatch.setattr(os, "fsync", seen)
        assert clear_cache() == 1
        # Cleared on the disk, too: a power loss does not bring it back.
        assert synced == [(str(cache_folder), [])]

    @pytest.mark.parametrize("damage", [b"", b"PAR1 not a table", "half"])
    def test_a_damaged_file_is_computed_again(self, cache_folder, damage):
        cached_table({"a": 1}, lambda: TABLE)
        (path,) = cache_folder.iterdir()
        path.write_bytes(
            path.read_bytes()[: path.stat().st_size // 2] if damage == "half" else damage
        )
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)
        pd.testing.assert_frame_equal(cached_table({"a": 1}, never), TABLE)

    def test_a_damaged_file_goes_though_its_table_is_quick(self, cache_folder, monkeypatch):
        cached_table({"a": 1}, lambda: TABLE)
        (path,) = cache_folder.iterdir()
        path.write_bytes(b"damaged")
        monkeypatch.setattr(store, "_WORTH_KEEPING", 1000)
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)
        assert not path.exists()

    def test_a_damaged_file_that_can_not_be_removed(self, cache_folder, monkeypatch):
        cached_table({"a": 1}, lambda: TABLE)
        (path,) = cache_folder.iterdir()
        path.write_bytes(b"damaged")

        def refuse(self, missing_ok=False):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "unlink", refuse)
        monkeypatch.setattr(store, "_WORTH_KEEPING", 1000)
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)

    def test_what_fails_or_is_stopped_leaves_nothing(self, cache_folder):
        def stop():
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            cached_table({"a": 1}, stop)
        assert list(cache_folder.iterdir()) == []

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
    def test_a_write_that_fails_leaves_nothing_half(self, cache_folder, monkeypatch, error):
        def half(table, path, **options):
            Path(path).write_bytes(b"PAR1 half")
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(store.pq, "write_table", half)
            if isinstance(error, OSError):
                cached_table({"a": 1}, lambda: TABLE)  # a full disk costs nothing but time
            else:
                with pytest.raises(KeyboardInterrupt):
                    cached_table({"a": 1}, lambda: TABLE)
        assert list(cache_folder.iterdir()) == []
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)

    def test_a_folder_that_can_not_be_made(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("KGDASH_CACHE", str(tmp_path / "file" / "cache"))
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)
        assert cache_size() == (0, 0)

    def test_the_file_appears_whole(self, cache_folder, monkeypatch):
        """It is written under another name and moved; nobody sees a half of it."""
        written, write = [], store.pq.write_table

        def watched(table, path, **options):
            write(table, path, **options)
            written.append(Path(path).stat().st_ino)
            assert list(cache_folder.glob("*.parquet")) == []

        monkeypatch.setattr(store.pq, "write_table", watched)
        cached_table({"a": 1}, lambda: TABLE)
        (path,) = cache_folder.iterdir()
        assert path.suffix == ".parquet"
        assert [path.stat().st_ino] == written


def test_what_is_quick_is_not_kept(monkeypatch):
    cached_table({"a": 1}, lambda: TABLE)
    assert cache_size()[0] == 0
    clock = iter([0.0, 60.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    cached_table({"a": 1}, lambda: TABLE)
    assert cache_size()[0] == 1


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


@pytest.mark.skipif(os.name == "nt", reason="folders are not write-protected there")
def test_a_folder_that_can_only_be_read(cache_folder, keep_all):
    cached_table({"a": 1}, lambda: TABLE)
    cache_folder.chmod(0o500)
    try:
        pd.testing.assert_frame_equal(cached_table({"a": 1}, never), TABLE)
        pd.testing.assert_frame_equal(cached_table({"b": 1}, lambda: TABLE.head(1)), TABLE.head(1))
    finally:
        cache_folder.chmod(0o700)


@pytest.mark.parametrize("error", [OSError(30, "Read-only file system"), NotImplementedError()])
def test_where_there_are_no_locks_it_goes_without(monkeypatch, keep_all, error):
    def refuse(self, **_):
        raise error

    monkeypatch.setattr(FileLock, "acquire", refuse)
    pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: TABLE), TABLE)
    pd.testing.assert_frame_equal(cached_table({"a": 1}, never), TABLE)
    assert clear_cache() == 1


def put(name, rows=1, days=0.0, **about):
    """Store a table that was last used some days ago."""
    table = pd.DataFrame({"x": np.arange(rows)})
    cached_table({"name": name}, lambda: table, {"run": name, **about})
    path = store._path({"name": name})
    when = time.time() - days * 86400
    if path.exists():
        os.utime(path, (when, when))
    return path


@pytest.mark.usefixtures("keep_all")
class TestListed:
    def test_nothing(self):
        table = list_cache()
        assert len(table) == 0
        assert table["bytes"].sum() == 0
        assert list(table.columns[:3]) == ["key", "kind", "run"]

    def test_what_was_noted(self):
        before = pd.Timestamp.now("UTC").floor("s")
        about = {"kind": "ranks", "graph": "umls", "filter": "none", "triples": 3}
        path = put("one", **about)
        (row,) = list_cache().to_dict("records")
        assert row == {**row, **about, "run": "one", "key": path.stem, "method": "", "sides": ""}
        assert row["bytes"] == path.stat().st_size
        assert before <= row["created"] <= pd.Timestamp.now("UTC")
        assert 0 <= row["seconds"] < 60
        assert row["version"] == kgdash.__version__

    def test_the_note_does_not_change_the_table(self):
        cached_table({"a": 1}, lambda: TABLE, {"kind": "ranks"})
        again = cached_table({"a": 1}, never)
        pd.testing.assert_frame_equal(again, TABLE)
        assert again.attrs == {}

    def test_files_without_a_note_and_damaged_ones_are_listed_too(self, cache_folder):
        TABLE.to_parquet(cache_folder / "old.parquet")
        (cache_folder / "broken.parquet").write_bytes(b"PAR1")
        (cache_folder / "notes.txt").write_text("mine")
        table = list_cache()
        assert sorted(table["key"]) == ["broken", "old"]
        assert set(table["kind"]) == {"unknown"}
        assert table["triples"].isna().all()
        assert clear_cache(kind="unknown") == 2
        assert [path.name for path in cache_folder.iterdir()] == ["notes.txt"]

    def test_latest_used_first_and_reading_is_using(self):
        for number, name in enumerate(("one", "two", "three")):
            put(name, days=number)
        assert list_cache()["run"].tolist() == ["one", "two", "three"]
        cached_table({"name": "three"}, never)
        assert list_cache()["run"].tolist() == ["three", "one", "two"]

    def test_of_a_run(self):
        graph = make_graph([(0, 0, 1), (2, 1, 0)], [(1, 1, 2)], [(0, 1, 2), (2, 0, 3)])
        run = fake_run(graph, random_scorer(4, 2))
        run.ranks(filter="train+test", sides=["tail"])
        run.relik(split="train")
        run.relik(method="sampled", samples=7)
        table = list_cache().set_index("method")
        assert table["run"].tolist() == ["fake"] * 3
        assert set(table["run_digest"]) == {run.digest}
        assert set(table["graph"]) == {"tiny"}
        ranks, exact = table.loc[""], table.loc["exact"]
        assert (ranks["kind"], ranks["filter"], ranks["triples"]) == ("ranks", "train+test", 2)
        # Of all triples those were counted that share a head with one asked for, or a tail.
        assert (exact["kind"], exact["triples"]) == ("relik", 4)
        assert table.loc["sampled, 7 a side", "kind"] == "relik"


class TestCleared:
    @pytest.fixture(autouse=True)
    def _three(self, keep_all):
        self.paths = {
            "a": put("a", kind="ranks", run_digest="1"),
            "b": put("b", kind="relik", run_digest="2", days=3),
            "c": put("c", kind="relik", run_digest="3", days=10),
        }

    def left(self):
        return {name for name, path in self.paths.items() if path.exists()}

    @pytest.mark.parametrize(
        ("conditions", "left"),
        [
            ({}, ""),
            ({"run": "a"}, "bc"),
            ({"run": "2"}, "ac"),
            ({"run": "none such"}, "abc"),
            ({"kind": "relik"}, "a"),
            ({"older_than": timedelta(days=5)}, "ab"),
            ({"older_than": timedelta(days=2), "run": "c"}, "ab"),
            ({"kind": "ranks", "run": "b"}, "abc"),
            ({"keys": []}, "abc"),
        ],
    )
    def test_what_meets_all_conditions(self, conditions, left):
        assert clear_cache(**conditions) == 3 - len(left)
        assert self.left() == set(left)

    def test_by_key(self):
        assert clear_cache(keys=[self.paths["a"].stem, "../../x", "none"]) == 1
        assert self.left() == {"b", "c"}

    def test_what_dead_processes_left_goes_and_what_the_living_hold_stays(self, cache_folder):
        (cache_folder / ".dead.parquet-1.kgdash-part").touch()
        (cache_folder / "gone.lock").touch()
        with (
            hold_lock(cache_folder / "live.lock") as got,
            draft_folder(cache_folder / "live.parquet") as alive,
        ):
            assert got
            assert clear_cache(keys=[]) == 0
            left = {path.name for path in cache_folder.iterdir() if path.suffix != ".parquet"}
            assert left == {alive.name, "live.lock"}
        clear_cache()
        assert list(cache_folder.iterdir()) == []

    def test_it_goes_when_the_cache_is_first_read(self, cache_folder, monkeypatch):
        monkeypatch.setattr("kgdash.files.cache_folder._swept", set())
        left = [cache_folder / ".dead.parquet-1.kgdash-part", cache_folder / "gone.lock"]
        for path in left:
            path.touch()
        assert stored_table({"of": "none"}) is None
        assert not any(path.exists() for path in left)


@pytest.mark.usefixtures("keep_all")
class TestBounded:
    def test_the_least_recently_used_goes(self, monkeypatch):
        paths = [put(name, rows=10_000, days=days) for name, days in (("a", 1), ("b", 3), ("c", 2))]
        size = paths[0].stat().st_size
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", str(int(3.5 * size)))
        put("d", rows=10_000)
        assert list_cache()["run"].tolist() == ["d", "a", "c"]
        cached_table({"name": "c"}, never)
        put("e", rows=10_000)
        assert set(list_cache()["run"]) == {"e", "d", "c"}

    def test_a_table_beyond_the_limit_is_not_kept_and_drives_out_none(self, monkeypatch):
        put("a")
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", "20K")
        put("b", rows=100_000)
        assert list_cache()["run"].tolist() == ["a"]

    def test_no_cache_at_all(self, monkeypatch, cache_folder):
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", "0")
        put("a")
        assert list(cache_folder.iterdir()) == []

    @pytest.mark.parametrize(
        ("text", "size"),
        [("", 2 * 2**30), ("1000", 1000), ("1.5 k", 1536), ("500MB", 500 * 2**20), ("1GiB", 2**30)],
    )
    def test_sizes(self, monkeypatch, text, size):
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", text)
        assert cache_limit() == size

    @pytest.mark.parametrize("text", ["much", "-1", "1 X", "G"])
    def test_what_is_no_size_is_refused_before_computing(self, monkeypatch, text):
        monkeypatch.setenv("KGDASH_CACHE_LIMIT", text)
        with pytest.raises(KgdashError, match=f"such as 500M or 2G; found '{text}'"):
            cached_table({"a": 1}, never)


@pytest.mark.usefixtures("keep_all")
class TestOfARun:
    """Everything that a table depends on is in its key."""

    graph = make_graph([(0, 0, 1), (2, 1, 0)], [(1, 1, 2)], [(0, 1, 2), (2, 0, 3)])

    def run(self, seed=0, graph=None):
        return fake_run(graph or self.graph, random_scorer(4, 2, seed, inverse=True))

    def test_ranks(self):
        run = self.run()
        calls = [
            {},
            {"split": "valid"},
            {"split": "valid", "filter": "train+valid+test"},
            {"filter": "none"},
            {"filter": "train+test"},
            {"sides": ["relation"]},
            {"sides": ["tail", "head"]},
            {"triples": [(2, 0, 3), (0, 1, 2)]},
            {"triples": [(1, 1, 1), (1, 1, 2)]},
        ]
        made = [run.ranks(**call) for call in calls]
        run.ranks_of_mixed([(1, 1, 1), (1, 1, 2)])
        # One table for each of four filters, and one each for what holds a triple of no split.
        filters = {"train+valid+test", "train+valid", "none", "train+test"}
        assert set(list_cache()["filter"]) == filters
        assert cache_size()[0] == len(filters) + 2
        clear_cache()
        for call, table in zip(calls, made, strict=True):
            pd.testing.assert_frame_equal(self.run().ranks(**call), table)
        for call, table in zip(calls, made, strict=True):
            pd.testing.assert_frame_equal(self.run().ranks(**call), table)

    def test_another_model_or_graph_is_another_table(self):
        other = make_graph([(0, 0, 1), (2, 1, 0)], [(1, 1, 2)], [(0, 1, 2), (2, 0, 3), (3, 0, 3)])
        for run in (self.run(0), self.run(1), self.run(0, other)):
            run.ranks()
        assert cache_size()[0] == 3

    def test_relik(self):
        run = self.run()
        run.relik()
        run.relik(rank_type="pessimistic")  # another reading of the same counts
        assert cache_size()[0] == 1
        run.relik(method="sampled", samples=3)
        run.relik(method="lower-bound", samples=3)
        assert cache_size()[0] == 2
        run.relik(method="sampled", samples=4)
        run.relik(method="sampled", samples=3, seed=1)
        assert cache_size()[0] == 4

    def test_scores_are_not_asked_for_again(self):
        self.run().relik()
        again = self.run()
        again.relik()
        assert again.scorer.asked == []
