"""Tables on disk: kept whole, read again, and never a reason to fail."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import fake_run, make_graph, random_scorer

from kgdash import store
from kgdash.store import cache_directory, cache_size, cached_table, clear_cache

ROOT = Path(__file__).resolve().parents[1]
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

    def test_size_and_clearing(self, cache_folder):
        assert cache_size() == (0, 0)
        cached_table({"a": 1}, lambda: TABLE)
        count, size = cache_size()
        assert count == 1
        assert size == sum(p.stat().st_size for p in cache_folder.iterdir()) > 0
        assert clear_cache() == 1
        assert list(cache_folder.iterdir()) == []

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
        def half(self, path):
            Path(path).write_bytes(b"PAR1 half")
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(pd.DataFrame, "to_parquet", half)
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
        written, write = [], pd.DataFrame.to_parquet

        def watched(self, path):
            write(self, path)
            written.append(Path(path).stat().st_ino)
            assert list(cache_folder.glob("*.parquet")) == []

        monkeypatch.setattr(pd.DataFrame, "to_parquet", watched)
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


def test_two_processes_with_one_cache(cache_folder):
    """Both compute and write the same tables at once; what stays can be read."""
    code = (
        "import pandas as pd\n"
        "from kgdash import store\n"
        "store._WORTH_KEEPING = -1\n"
        "for n in range(40):\n"
        "    make = lambda: pd.DataFrame({'x': [n % 4] * 5000})\n"
        "    table = store.cached_table({'n': n % 4}, make)\n"
        "    assert (table.x == n % 4).all()\n"
        "    if n % 7 == 0: store.clear_cache()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(2)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    names = [path.name for path in cache_folder.iterdir()]
    assert names
    assert all(name.endswith(".parquet") for name in names)
    for path in cache_folder.iterdir():
        assert len(pd.read_parquet(path)) == 5000


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
            {"filtered": False},
            {"filter": "train+test"},
            {"sides": ["relation"]},
            {"sides": ["tail", "head"]},
            {"triples": [(2, 0, 3), (0, 1, 2)]},
            {"triples": [(1, 1, 1), (1, 1, 2)]},
            {"triples": [(1, 1, 1), (1, 1, 2)], "evaluated_are_known": False},
        ]
        made = [run.ranks(**call) for call in calls]
        assert cache_size()[0] == len(calls)
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
