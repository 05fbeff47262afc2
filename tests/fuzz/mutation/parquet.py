"""Changes of Parquet files: odd tables written whole, beside changes of their bytes."""

import io
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.mutation.bytewise import change_bytes

_NAMES = pa.list_(pa.string())

#: a type with some of its values
_COLUMNS: tuple[tuple[pa.DataType, list[Any]], ...] = (
    (pa.string(), ["1p", "2i", "", None, "é", "e0"]),
    (pa.large_string(), ["1p", "2i", None]),
    (pa.binary(), [b"1p", b"\xff\xfe", b"\xed\xa0\x80", None]),
    (pa.dictionary(pa.int32(), pa.string()), ["1p", "2i", None]),
    (pa.int64(), [0, -1, 2**63 - 1, None]),
    (pa.uint64(), [0, 2**64 - 1, None]),
    (pa.float64(), [0.5, float("nan"), float("inf"), None]),
    (pa.float16(), [0.5, None]),
    (pa.bool_(), [True, False, None]),
    (pa.null(), [None]),
    (pa.date32(), [0, 2**31 - 1, None]),
    (pa.timestamp("ns", "UTC"), [0, 2**62, None]),
    (pa.duration("s"), [0, 2**62, None]),
    (pa.decimal128(38, 2), [1, None]),
    (_NAMES, [["e0"], [], ["e0", "e1"], [None], None, [""]]),
    (pa.large_list(pa.string()), [["e0"], [], None]),
    (pa.list_(pa.binary()), [[b"\xff"], [b"e0"], []]),
    (pa.list_(pa.int64()), [[1], [], None]),
    (pa.list_(pa.string(), 1), [["e0"], ["e1"]]),
    (pa.list_(_NAMES), [[["e0"]], [], None]),
    (pa.struct([("a", pa.string())]), [{"a": "e0"}, None]),
    (pa.map_(pa.string(), pa.string()), [[("a", "b")], None]),
)


def change_parquet(data: bytes, random: Random) -> bytes:
    """Change a column's values, type or name and write the table anew, in one of many ways."""
    if random.random() < 0.3:
        return change_bytes(data, random)
    try:
        table = pq.ParquetFile(io.BytesIO(data)).read()
        return _written(_changed(table, random), random)
    except Exception:  # an earlier change broke it, or Parquet has no form for it
        return change_bytes(data, random)


def _changed(table: pa.Table, random: Random) -> pa.Table:
    place, kind = random.randrange(table.num_columns), random.randrange(7)
    name, column = table.column_names[place], table.column(place)
    if kind == 0:
        return table.remove_column(place)
    if kind == 1:
        return table.append_column(random.choice((name, "", "é", "x")), column)
    if kind == 2:
        rows = range(random.randrange(6)) if table.num_rows else ()
        return table.take(pa.array([random.randrange(table.num_rows) for _ in rows], pa.int64()))
    if kind == 3:
        note = {random.choice((b"kgdash", b"pandas", b"ARROW:schema")): _note(table, random)}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **note})
    made, values = column.type, column.to_pylist()
    if kind == 4:
        values[random.randrange(len(values))] = random.choice((None, *values))
    else:
        made, offered = random.choice(_COLUMNS)
        values = [random.choice(offered) for _ in values]
    return table.set_column(place, name, pa.array(values, made))


def _note(table: pa.Table, random: Random) -> bytes:
    old = (table.schema.metadata or {}).get(b"kgdash", b"{}")
    return random.choice((change_bytes(old, random), b"[]", b"[" * 5000, b"{}", b'{"shape": 1}'))


def _written(table: pa.Table, random: Random) -> bytes:
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=random.choice(("none", "snappy", "zstd", "gzip", "brotli", "lz4")),
        use_dictionary=random.random() < 0.7,
        data_page_version=random.choice(("1.0", "2.0")),
        version=random.choice(("1.0", "2.4", "2.6")),
        row_group_size=random.choice((1, 2, 1000)),
        write_statistics=random.random() < 0.5,
        store_schema=random.random() < 0.7,
        write_page_checksum=random.random() < 0.3,
    )
    return out.getvalue()
