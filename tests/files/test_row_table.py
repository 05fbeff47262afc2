"""Tables that fill up: nothing lost, nothing twice, readable whatever ends a process."""

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.files.row_table import MISSING, RowTable
from kgdash.files.table_cache import cache_size, clear_cache, list_cache
from tests.support.paths import ROOT

ABOUT = {"kind": "relik", "run": "fake"}


def make(rows=6) -> RowTable:
    return RowTable({"a": 1}, ["x", "y"], rows, ABOUT)


def column(table, name="x", rows=6):
    return table.column(name, np.arange(rows))


def put(table, rows, x, y=None, seconds=1.0):
    with table.turn():
        numbers = {"x": np.array(x)} | ({} if y is None else {"y": np.array(y)})
        table.put(np.array(rows), numbers, seconds)


def test_rows_are_missing_until_they_are_put_and_found_by_others():
    one, two = make(), make()
    assert (column(one) == MISSING).all()
    assert one.filled("x") == 0
    put(one, [4, 1], [7, 0])
    assert one.filled("x") == two.filled("x") == 1 / 3
    assert column(one).tolist() == [-1, 0, -1, -1, 7, -1]
    assert column(two).tolist() == column(one).tolist()
    put(two, [0, 4], [3, 8], [5, 6])
    assert (one.filled("x"), two.filled("y")) == (1 / 2, 1 / 3)
    found = make().values(np.array([4, 0, 2]))
    assert {name: v.tolist() for name, v in found.items()} == {"x": [8, 3, -1], "y": [6, 5, -1]}
    assert column(one).tolist() == [3, 0, -1, -1, 8, -1]


class Ended(BaseException):
    """As a thread's end, or Ctrl-C, which may come between any two steps."""


def test_who_is_ended_while_putting_leaves_all_of_a_row_or_nothing(monkeypatch):
    """Half of a row's numbers were there, as if it were counted: ranks from it were wrong."""

    class Numbers(dict):
        def values(self):
            yield self["x"]
            raise Ended

        def items(self):
            yield "x", self["x"]
            raise Ended

    table = make()
    put(table, [1], [5], [6])
    with pytest.raises(Ended):
        table.put(np.array([1, 2]), Numbers(x=np.array([7, 8]), y=np.array([9, 9])), 1.0)
    found = table.values(np.array([1, 2]))
    assert {name: v.tolist() for name, v in found.items()} == {"x": [5, -1], "y": [6, -1]}


def test_who_is_ended_while_making_room_leaves_what_was_there(monkeypatch):
    """One array had room and the other not: every later look ended in an exception."""
    table, insert = make(), np.insert
    put(table, [1], [5], [6])

    def once(array, *rest, **named):
        if array.ndim == 2:
            raise Ended
        return insert(array, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(np, "insert", once)
        with pytest.raises(Ended):
            table.put(np.array([4]), {"x": np.array([7]), "y": np.array([8])}, 1.0)
    assert column(table).tolist() == [-1, 5, -1, -1, -1, -1]
    put(table, [4], [7], [8])
    assert column(table).tolist() == [-1, 5, -1, -1, 7, -1]


def test_values_are_copies():
    table = make()
    put(table, [0], [1])
    column(table)[0] = 9
    table.values(np.arange(6))["x"][0] = 9
    assert column(table)[0] == 1


def test_what_is_quick_waits_for_more_and_is_kept_meanwhile():
    table = make()
    put(table, [0], [1], seconds=0.2)
    assert cache_size()[0] == 0
    assert column(table)[0] == 1
    put(table, [1], [2], seconds=0.2)
    (row,) = list_cache().to_dict("records")
    assert (row["kind"], row["run"], row["triples"], row["seconds"]) == ("relik", "fake", 2, 0.4)
    put(table, [2], [2], seconds=2)
    assert list_cache()["seconds"].tolist() == [2.4]


def test_what_was_put_before_a_turn_fails_is_kept():
    table = make()

    def work():
        with table.saved(), table.turn():
            table.put(np.array([1]), {"x": np.array([2])}, 1.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert column(make())[1] == 2


def test_turns_are_longer_where_writing_is_slow(monkeypatch):
    table = make()
    assert table.seconds_per_turn == 1
    monkeypatch.setattr(table, "_writing", 0.5)
    assert table.seconds_per_turn == 10


def test_a_turn_that_fails_lets_others_in():
    table = make()
    with pytest.raises(KeyboardInterrupt), table.turn():
        raise KeyboardInterrupt
    put(table, [1], [2])
    assert column(make())[1] == 2


def test_cleared_means_missing():
    table = make()
    put(table, [0, 1, 2], [1, 2, 3])
    assert table.filled("x") == 1 / 2
    clear_cache()
    assert (column(table) == MISSING).all()
    assert table.filled("x") == 0
    put(table, [1], [2])
    assert column(make()).tolist() == [-1, 2, -1, -1, -1, -1]


def test_another_folder_is_another_table(monkeypatch, tmp_path, cache_folder):
    table = make()
    put(table, [0], [1])
    monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
    put(table, [1], [2], seconds=0.1)
    assert column(table).tolist()[:2] == [-1, 2]
    monkeypatch.setenv("KGDASH_CACHE", str(cache_folder))
    assert column(table).tolist()[:2] == [1, -1]


def test_nothing_counted_is_not_stored(keep_all):
    with make().saved(), make().turn():
        pass
    assert cache_size()[0] == 0


def test_reading_is_using(cache_folder):
    table = make()
    put(table, [0], [1])
    (path,) = cache_folder.glob("*.parquet")
    os.utime(path, (0, 0))
    column(table)
    assert path.stat().st_mtime > time.time() - 60


@pytest.mark.parametrize("damage", [b"", b"PAR1 not a table", "half"])
def test_a_damaged_file_is_as_none(cache_folder, damage):
    put(make(), [0], [1])
    (path,) = cache_folder.glob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == "half" else damage)
    table = make()
    assert (column(table) == MISSING).all()
    put(table, [3], [4])
    assert column(make()).tolist() == [-1, -1, -1, 4, -1, -1]


def test_a_file_of_another_shape_is_not_taken():
    put(make(rows=5), [0], [1])
    table = make()
    assert (column(table) == MISSING).all()
    put(table, [3], [4])
    assert column(make()).tolist() == [-1, -1, -1, 4, -1, -1]


@pytest.mark.parametrize(
    "x",
    [[-2, 0], pd.to_datetime(["2020-01-01", "2021-01-01"]), [0.5, 1.0], [True, False]],
    ids=["negative", "dates", "fractions", "truths"],
)
def test_what_is_no_count_is_not_taken(x):
    table = make(2)
    store.replace_table({"a": 1}, pd.DataFrame({"x": x, "y": x}), {**ABOUT, "seconds": 1.0})
    assert (column(table) == MISSING).all()


def test_only_rows_with_numbers_are_stored_and_all_of_a_whole_table_too(cache_folder):
    table = make()
    put(table, [4, 1], [7, 0])
    put(table, [1], [2], [3])
    (path,) = cache_folder.glob("*.parquet")
    stored = pd.read_parquet(path)
    assert stored.to_dict("list") == {"row of 6": [1, 4], "x": [2, 7], "y": [3, -1]}
    put(table, [0, 2, 3, 5], [1, 1, 1, 1])
    stored = pd.read_parquet(path)
    assert stored.columns.tolist() == ["x", "y"]
    assert stored["x"].tolist() == column(make()).tolist() == [1, 2, 1, 1, 7, 1]


@pytest.mark.parametrize("rows", [[3, 1], [1, 1], [-1, 2], [2, 6], [0.0, 1.0]])
def test_rows_that_can_not_be_are_not_taken(rows):
    table = make()
    numbers = pd.DataFrame({"row of 6": rows, "x": [1, 2], "y": [1, 2]})
    store.replace_table({"a": 1}, numbers, {**ABOUT, "seconds": 1.0})
    assert (column(table) == MISSING).all()


def test_a_table_with_rows_still_missing_of_before_is_taken():
    x = [MISSING, 4, MISSING, MISSING, 0, 1]
    store.replace_table({"a": 1}, pd.DataFrame({"x": x, "y": x}), {**ABOUT, "seconds": 1.0})
    table = make()
    assert column(table).tolist() == x
    assert table.filled("y") == 1 / 2


def test_without_a_disk_rows_live_in_memory(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KGDASH_CACHE", str(tmp_path / "file" / "cache"))
    table = make()
    put(table, [0], [1])
    put(table, [1], [2])
    assert column(table).tolist() == [1, 2, -1, -1, -1, -1]
    monkeypatch.setenv("KGDASH_CACHE_LIMIT", "much")
    with pytest.raises(KgdashError, match="such as 500M or 2G"):
        make()


FILL = """
import sys, time
import numpy as np
from kgdash.files import table_cache as store
from kgdash.files.row_table import RowTable
store._WORTH_KEEPING = -1
rows, twice = 300, 0
table = RowTable({"a": 1}, ["x", "y"], rows, {"kind": "relik"})
order = np.random.default_rng(int(sys.argv[1])).permutation(rows).reshape(-1, 5)
for some in order:
    with table.turn():
        left = some[table.column("x", some) < 0]
        time.sleep(0.002)
        table.put(left, {"x": left * 7, "y": left * 11}, 1.0)
    print(len(left), flush=True)
"""


def start(seed):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", FILL, str(seed)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def whole():
    return {"x": np.arange(300) * 7, "y": np.arange(300) * 11}


def test_two_processes_fill_it_together_and_nothing_twice():
    processes = [start(seed) for seed in (1, 2)]
    shares = [sum(map(int, process.communicate(timeout=240)[0].split())) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(shares) == 300
    found = RowTable({"a": 1}, ["x", "y"], 300, ABOUT).values(np.arange(300))
    assert {name: v.tolist() for name, v in found.items()} == {
        name: v.tolist() for name, v in whole().items()
    }


def test_killed_at_any_time_it_stays_readable_and_goes_on(cache_folder):
    for seed, lines in ((3, 4), (4, 11)):
        process = start(seed)
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        found = RowTable({"a": 1}, ["x", "y"], 300, ABOUT).values(np.arange(300))
        there = found["x"] != MISSING
        assert 5 * (lines - 1) <= there.sum() < 300
        for name, expected in whole().items():
            assert (found[name][there] == expected[there]).all()
            assert (found[name][~there] == MISSING).all()
    assert start(5).wait(timeout=240) == 0
    found = RowTable({"a": 1}, ["x", "y"], 300, ABOUT).values(np.arange(300))
    assert (found["x"] == whole()["x"]).all()
    store.clear_cache(keys=[])
    assert [path.suffix for path in cache_folder.iterdir()] == [".parquet"]
