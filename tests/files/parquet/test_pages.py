"""What pages unpack to, against what was written; and damaged pages."""

import io
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.files.parquet.pages import plain_file


def unpacked_size(content: bytes) -> tuple[int, int]:
    found = plain_file(content)
    return found.values, found.size


TABLE = pa.table(
    {
        "name": [f"x{i % 97}" for i in range(2_000)],
        "list": [["y"] * (i % 5) for i in range(2_000)],
        "number": range(2_000),
    }
)


def written(**options) -> tuple[bytes, pq.FileMetaData]:
    stream = io.BytesIO()
    pq.write_table(TABLE, stream, **options)
    return stream.getvalue(), pq.ParquetFile(io.BytesIO(stream.getvalue())).metadata


def footer_size(metadata: pq.FileMetaData) -> tuple[int, int]:
    chunks = [
        metadata.row_group(g).column(c)
        for g in range(metadata.num_row_groups)
        for c in range(metadata.num_columns)
    ]
    return sum(c.num_values for c in chunks), sum(c.total_uncompressed_size for c in chunks)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "none", "snappy"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_as_written(version, compression, dictionary):
    content, metadata = written(
        data_page_version=version,
        compression=compression,
        use_dictionary=dictionary,
        row_group_size=700,
        data_page_size=300,
    )
    values, size = unpacked_size(content)
    told, told_size = footer_size(metadata)
    # A dictionary has at most 97 names or 700 numbers a group; the footer's size has the headers.
    assert told <= values <= told + dictionary * (2 * 97 + 1 + 2_000) * metadata.num_row_groups
    assert dictionary or values == told
    assert told_size <= size < 1.5 * told_size


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_damaged_files(place, byte):
    data = bytearray(WHOLE[0])
    data[place % len(data)] = byte
    try:
        values, size = unpacked_size(bytes(data))
    except ValueError:
        return
    assert values >= 0
    assert size >= 0


WHOLE = written(compression="zstd")


def footer(column: bytes, group: bytes = b"\x16\x00") -> bytes:
    """Write a footer of one row group: its one column, its bytes and what else it has."""
    # Field 4, a list of one struct; its field 1, a list of one struct; its field 3, a struct.
    told = b"\x49\x1c" + b"\x19\x1c" + b"\x3c" + column + b"\x00" + group + b"\x00\x00"
    return told + len(told).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"\x15\x00\x15", "ends outside"),
        (b"\x15\x00\x00", "without its sizes"),
        (b"\x15\x00\x15\x01\x15\x00\x00", "can not be"),
        (b"\x15\x00\x15\x02\x15\x64\x00", "ends outside"),
        (b"\x1c" * 40, "too deep"),
        (b"\x1b\x00", "kind 11"),
        (b"\x19" * 60, "too deep"),
        (b"\x15" + b"\xff" * 12, "too long"),
        (b"\x15\x00\x05\x02\x00\x00", "twice"),
        (b"\x15\x00\x05\x82\x80\x08\x00\x00", "a field of a number"),  # 65,537
        (b"\x15\x00\x05\x01\x00\x00", "a field of a number"),  # -1
        (b"\x15\x80\x80\x80\x80\x10\x00", "more bits than its kind"),
        (b"\x19\xf5\x64", "longer than the file"),
        (b"\x25\x00\x15\x00\x29\x25\x02\x02\x00", "another kind"),
        (b"\x25\x00\x15\x00\x2c\x00\x00", "without its sizes"),
    ],
)
def test_what_is_no_header(page, said):
    # One value; so many bytes; pages from byte 0.
    column = b"\x56\x02" + b"\x26" + bytes([2 * len(page)]) + b"\x26\x00\x00"
    with pytest.raises(ValueError, match=said):
        unpacked_size(page + footer(column))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "longer than the file"),
        (b"\x00" * 8, "ends outside"),
        (b"\x00\x01\x00\x00\x00PAR1", "without schema, row groups"),
        (b"\xff\xff\xff\x7fPAR1", "longer than the file"),
        (footer(b"\x56\x01\x00"), "can not be"),
        (footer(b"\x56\x02\x26\x02\x26\x7e\x00"), "outside the file"),
        (footer(b"\x56\x00\x00", b"\x16\x01"), "can not be"),
        (footer(b"\x56\x02\x26\x02\x26\x02\x21\x00"), "another kind"),
    ],
)
def test_what_is_no_footer(content, said):
    with pytest.raises(ValueError, match=said):
        unpacked_size(content)


def test_no_rows():
    stream = io.BytesIO()
    pq.write_table(TABLE.slice(0, 0), stream)
    assert unpacked_size(stream.getvalue())[0] == 0


def varint(number: int) -> bytes:
    return bytes([number % 128 | 128]) + varint(number // 128) if number > 127 else bytes([number])


def whole(number: int) -> bytes:
    return varint(2 * number)


def of_pages(pages: int, columns: int) -> bytes:
    """Make a file of empty pages, all of them in each column."""
    header = b"\x15\0\x15\0\x15\0\x2c\x15\0\0\0"
    column = b"\x3c\x56\x02\x26" + whole(pages * len(header)) + b"\x26" + whole(4) + b"\0\0"
    group = b"\x19\xfc" + varint(columns) + column * columns + b"\x16\x02\0"
    return with_footer(b"PAR1" + header * pages, b"\x49\x1c" + group + b"\0")


def with_footer(start: bytes, footer: bytes) -> bytes:
    return start + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def test_many_pages_and_values_are_refused():
    assert unpacked_size(of_pages(1_000, 1)) == (1, 1)
    start = time.process_time()
    assert sum(1 for _ in range(10**7)) == 10**7
    usual, start = time.process_time() - start, time.process_time()
    with pytest.raises(ValueError, match="columns that share their pages"):
        unpacked_size(of_pages(10_000, 200))
    with pytest.raises(ValueError, match="more than 262,144 pages"):
        unpacked_size(of_pages(300_000, 1))
    with pytest.raises(ValueError, match="a header of more than 2,097,152 values"):
        unpacked_size(with_footer(b"PAR1", b"\x49\xfc" + varint(2**22) + b"\0" * 2**22))
    # Of a machine that others use, too: 8 to 15 times as long, not minutes.
    assert time.process_time() - start < 50 * usual


def test_types_are_those_of_parquet_alone():
    stream = io.BytesIO()
    large = pa.table({"name": pa.array(["x", "y"], pa.large_string()), "lists": [[1], [2, 3]]})
    pq.write_table(large, stream)
    file = pq.ParquetFile(io.BytesIO(plain_file(stream.getvalue()).content))
    assert file.metadata.metadata is None
    assert file.schema_arrow.types[0] == pa.string()
    assert file.read().to_pydict() == large.to_pydict()


def test_arrow_s_own_schema_is_not_looked_at():
    """One of 1.4 KB in gzip, whose 27,000 fields share a name of 50,000 letters, took 1 GiB."""
    content = WHOLE[0]
    place = content.index(b"ARROW:schema") + len(b"ARROW:schema")
    damaged = content[: place + 20] + b"A" * 60 + content[place + 80 :]
    with pytest.raises((pa.ArrowException, OSError)):
        pq.read_table(io.BytesIO(damaged))
    assert pq.read_table(io.BytesIO(plain_file(damaged).content)).equals(TABLE)


def test_a_footer_longer_than_the_file():
    with pytest.raises(ValueError, match="longer than the file"):
        plain_file(b"PAR1" + (2**20).to_bytes(4, "little") + b"PAR1")


def schema(*elements: tuple[bytes, int]) -> bytes:
    """Return a file of a schema alone: elements' names, and how many are below each."""
    told = b"".join(
        b"\x48" + varint(len(name)) + name + b"\x15" + varint(2 * below) + b"\x00"
        for name, below in elements
    )
    listed = b"\x29\xfc" + varint(len(elements)) + told + b"\x29\x0c\x00"
    return listed + len(listed).to_bytes(4, "little") + b"PAR1"


def test_a_long_name_above_many_columns():
    """PyArrow made a text of each column's whole path: 2 GB of 1.1 KB in gzip."""
    leaves = [(b"b", 0)] * 20_000
    with pytest.raises(ValueError, match=r"paths of columns of more than 16,777,216 letters"):
        unpacked_size(schema((b"r", 1), (b"a" * 100_000, 20_000), *leaves))
    assert unpacked_size(schema((b"r", 2), (b"a" * 100_000, 0), (b"c", 20_000), *leaves)) == (0, 0)


def test_more_columns_than_an_embedding_has():
    """PyArrow took 1 GiB for 500,000 of one letter, 22 KB in gzip."""
    with pytest.raises(ValueError, match="a schema of more than 65,536 parts"):
        unpacked_size(schema((b"r", 65_536), *[(b"b", 0)] * 65_536))


def test_a_schema_that_is_no_tree():
    nameless = b"\x29\x1c\x55\x02\x00\x29\x0c\x00"
    with pytest.raises(ValueError, match="no tree of names"):
        unpacked_size(nameless + len(nameless).to_bytes(4, "little") + b"PAR1")
