"""Notes in the files of tables: read back, and harmless when strangers wrote them."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgdash.files.table_cache import cache_size, cached_table, clear_cache, list_cache
from kgdash.files.table_note import DAMAGED, check_shape, checked_frame, read_note, with_note

TABLE = pa.table({"head": [1, 2], "relik": [0.5, 1.0]})

NOTE = {"kind": "relik", "run": "umls", "triples": 2, "seconds": 1.5}


def write(path, note) -> None:
    text = note if isinstance(note, str) else json.dumps(note)
    pq.write_table(TABLE.replace_schema_metadata({b"kgdash": text}), path)


def test_read_back(tmp_path):
    stored = with_note(TABLE, "t", NOTE)
    pq.write_table(stored, tmp_path / "t.parquet")
    assert read_note(tmp_path / "t.parquet") == NOTE
    check_shape(pq.read_table(tmp_path / "t.parquet"), "t")


@pytest.mark.parametrize(
    "other",
    [
        lambda stored: stored.slice(1),
        lambda stored: stored.rename_columns(["tail", "relik"]),
        lambda stored: stored.select(["head"]),
        lambda stored: stored.set_column(0, "head", pa.array([1.0, 2.0])),
        lambda stored: stored.replace_schema_metadata({}),
    ],
)
def test_a_table_of_another_shape_is_refused(other):
    stored = with_note(TABLE, "t", NOTE)
    with pytest.raises(DAMAGED):
        check_shape(other(stored), "t")
    with pytest.raises(DAMAGED):
        check_shape(stored, "u")


HOSTILE = [
    {"triples": "x"},
    {"triples": 1.5},
    {"triples": True},
    {"triples": -1},
    {"triples": 2**70},
    {"seconds": -1.0},
    '{"seconds": 1e400}',
    '{"seconds": NaN}',
    {"kind": ["relik"], "run": {"a": 1}, "graph": 3},
    {"created": "yesterday", "version": None},
    {"created": "999999-01-01T00:00:00"},
    "[" * 100_000 + "]" * 100_000,
    '{"kind": ' + "[" * 100_000,
    "[]",
    "",
    '"\\ud800"',
    {"run": "x" * 100_000},
    {"run": "\x1b[31m"},
]


@pytest.mark.parametrize("note", HOSTILE, ids=range(len(HOSTILE)))
def test_strange_notes_break_neither_the_list_nor_clearing(cache_folder, note):
    cache_folder.mkdir(exist_ok=True)
    write(cache_folder / f"{'5' * 40}.parquet", note)
    (listed,) = list_cache().to_dict("records")
    assert listed["key"] == "5" * 40
    assert len(listed["run"]) <= 200
    assert clear_cache(keys=["5" * 40]) == 1
    assert cache_size() == (0, 0)


@pytest.mark.parametrize("cut", [0, 1])
def test_what_another_wrote_under_a_name_is_computed_again(cache_folder, keep_all, cut):
    made = pd.DataFrame({"relik": [0.5, 1.0]})
    cached_table({"a": 1}, lambda: made)
    (path,) = cache_folder.glob("*.parquet")
    if cut:
        stored = pq.read_table(path)
        pq.write_table(stored.slice(1), path)
    else:
        cached_table({"a": 2}, lambda: made * 0)
        (other,) = set(cache_folder.glob("*.parquet")) - {path}
        other.replace(path)
    pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: made), made)


def test_flipped_bits_are_noticed(cache_folder, keep_all):
    made = pd.DataFrame({"relik": [0.5, 1.0, 0.25] * 100})
    cached_table({"a": 1}, lambda: made)
    (path,) = cache_folder.glob("*.parquet")
    content = path.read_bytes()
    for place in range(30, 70):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        pd.testing.assert_frame_equal(cached_table({"a": 1}, lambda: made), made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"name": "a"', b'"name": "e"'),
        (b'"start": 0, "stop": 2', b'"start": 1, "stop": 3'),
    ],
)
def test_what_pandas_notes_must_be_of_the_table(old, new):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    stored = with_note(pa.Table.from_pandas(frame), "t", {})
    pd.testing.assert_frame_equal(checked_frame(stored, "t"), frame)
    notes = dict(stored.schema.metadata)
    assert old in notes[b"pandas"]
    notes[b"pandas"] = notes[b"pandas"].replace(old, new)
    with pytest.raises(DAMAGED):
        checked_frame(stored.replace_schema_metadata(notes), "t")
