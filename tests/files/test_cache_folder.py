"""What the cache holds: listed, cleared by conditions, and bounded."""

import os
import time
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import kgdash
from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.files.atomic import draft_folder
from kgdash.files.cache_folder import cache_limit
from kgdash.files.lock import hold_lock
from kgdash.files.table_cache import cached_table, clear_cache, list_cache, stored_table
from tests.support.kept_tables import TABLE, never

#: names as kgdash gives them
GONE, LIVE = "a" * 40, "b" * 40


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
        TABLE.to_parquet(cache_folder / f"{GONE}.parquet")
        (cache_folder / f"{LIVE}.parquet").write_bytes(b"PAR1")
        others = {"notes.txt", "poetry.lock", "mine.parquet", "data.arrow"}
        for name in others:
            (cache_folder / name).write_text("mine")
        table = list_cache()
        assert sorted(table["key"]) == [GONE, LIVE]
        assert set(table["kind"]) == {"unknown"}
        assert table["triples"].isna().all()
        assert clear_cache(kind="unknown") == 2
        assert clear_cache() == 0
        assert {path.name for path in cache_folder.iterdir()} == others

    def test_latest_used_first_and_reading_is_using(self):
        for number, name in enumerate(("one", "two", "three")):
            put(name, days=number)
        assert list_cache()["run"].tolist() == ["one", "two", "three"]
        cached_table({"name": "three"}, never)
        assert list_cache()["run"].tolist() == ["three", "one", "two"]


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
        (cache_folder / ".dead.parquet-00000001.kgdash-part").touch()
        (cache_folder / f"{GONE}.lock").touch()
        with (
            hold_lock(cache_folder / f"{LIVE}.lock") as got,
            draft_folder(cache_folder / "live.parquet") as alive,
        ):
            assert got
            assert clear_cache(keys=[]) == 0
            left = {path.name for path in cache_folder.iterdir() if path.suffix != ".parquet"}
            assert left == {alive.name, f"{LIVE}.lock"}
        clear_cache()
        assert list(cache_folder.iterdir()) == []

    def test_it_goes_when_the_cache_is_first_read(self, cache_folder, monkeypatch):
        monkeypatch.setattr("kgdash.files.cache_folder._swept", set())
        left = [cache_folder / ".dead.parquet-00000001.kgdash-part", cache_folder / f"{GONE}.lock"]
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
