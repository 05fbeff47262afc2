"""Tables that come with kgdash: found where the cache has none, if they are as told."""

import hashlib
import shutil

import numpy as np
import pandas as pd
import pytest

from kgdash.files import shipped_tables
from kgdash.files.cache_folder import cache_directory
from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.shipped_tables import offer_tables, offered_table
from kgdash.files.table_cache import (
    cache_size,
    cached_table,
    clear_cache,
    replace_table,
    table_note,
)

KEY = {"kind": "ranks", "of": "a test of shipped tables"}
TABLE = pd.DataFrame({"x": [4, MISSING, 2], "y": [1, 0, 3]})


def never() -> pd.DataFrame:
    raise AssertionError("computed, though it came along")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a table that is nowhere else; what is offered is forgotten again."""
    monkeypatch.setattr(shipped_tables, "_offered", {})
    replace_table(KEY, TABLE, {"kind": "ranks", "seconds": 5.0})
    (source,) = cache_directory().glob("*.parquet")
    (tmp_path / "tables").mkdir()
    shutil.move(source, tmp_path / "tables" / source.name)
    return tmp_path


def digests(folder):
    return {
        f"tables/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "tables").iterdir()
    }


def test_it_is_found_where_the_cache_has_none(folder):
    offer_tables(folder, digests(folder))
    pd.testing.assert_frame_equal(cached_table(KEY, never), TABLE)
    assert table_note(KEY)["seconds"] == 5.0
    assert cache_size() == (0, 0)


def test_its_rows_are_counted_already_and_others_join_them_in_the_cache(folder):
    offer_tables(folder, digests(folder))
    (path,) = (folder / "tables").iterdir()
    before = path.read_bytes()
    rows = RowTable(KEY, ["x", "y"], 3, {"kind": "ranks"})
    assert rows.column("x", np.arange(3)).tolist() == [4, MISSING, 2]
    with rows.turn():
        rows.put(np.array([1]), {"x": np.array([9])}, 1.0)
    assert RowTable(KEY, ["x", "y"], 3, {}).column("x", np.arange(3)).tolist() == [4, 9, 2]
    assert (cache_size()[0], path.read_bytes()) == (1, before)
    clear_cache()
    assert RowTable(KEY, ["x", "y"], 3, {}).column("x", np.arange(3)).tolist() == [4, MISSING, 2]


def test_one_that_was_changed_or_is_not_named_is_not_believed(folder):
    told = digests(folder)
    (path,) = (folder / "tables").iterdir()
    forged = folder / "forged.parquet"
    TABLE.assign(x=1).to_parquet(forged)
    shutil.copy(forged, path)
    offer_tables(folder, told)
    assert offered_table(path.name) is None
    offer_tables(folder, {})
    assert offered_table(path.name) is None
    assert cached_table(KEY, lambda: TABLE + 1)["x"].tolist() == [5, 0, 3]


def test_one_that_is_gone_is_computed(folder):
    offer_tables(folder, digests(folder))
    shutil.rmtree(folder / "tables")
    assert table_note(KEY) == {}
    assert cached_table(KEY, lambda: TABLE + 1)["x"].tolist() == [5, 0, 3]
