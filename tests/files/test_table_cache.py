"""Tables on disk: kept whole, read again, and never a reason to fail."""

import os
import time
from pathlib import Path

import pandas as pd
import pytest
from filelock import FileLock

from kgdash.files import table_cache as store
from kgdash.files.cache_folder import cache_directory
from kgdash.files.table_cache import cache_size, cached_table, clear_cache
from tests.support.kept_tables import TABLE, never


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


def test_a_table_that_is_replaced_while_it_is_read(cache_folder, monkeypatch):
    key, whole, read = {"a": 1}, pd.DataFrame({"x": range(1000)}), store.pq.read_table
    store.replace_table(key, whole, {"seconds": 1.0})
    sizes = iter(range(1, 100))

    def replaced(source, **options):
        store.replace_table(key, whole.head(next(sizes)), {"seconds": 1.0})
        return read(source, **options)

    monkeypatch.setattr(store.pq, "read_table", replaced)
    pd.testing.assert_frame_equal(store.stored_table(key), whole)
    assert len(store.stored_table(key)) == 1


def test_what_is_quick_is_not_kept(monkeypatch):
    cached_table({"a": 1}, lambda: TABLE)
    assert cache_size()[0] == 0
    clock = iter([0.0, 60.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    cached_table({"a": 1}, lambda: TABLE)
    assert cache_size()[0] == 1


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
