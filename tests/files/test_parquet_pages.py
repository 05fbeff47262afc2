"""What pages unpack to, against what was written; and damaged pages."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.files.parquet_pages import unpacked_size

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
    values, size = unpacked_size(content, metadata)
    told, told_size = footer_size(metadata)
    # A dictionary has at most 97 names or 700 numbers a group; the footer's size has the headers.
    assert told <= values <= told + dictionary * (2 * 97 + 1 + 2_000) * metadata.num_row_groups
    assert dictionary or values == told
    assert 0.5 * told_size < size < told_size


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_damaged_pages(place, byte):
    content, metadata = WHOLE
    data = bytearray(content)
    data[place % (len(data) - 500)] = byte
    try:
        values, size = unpacked_size(bytes(data), metadata)
    except ValueError:
        return
    assert values >= 0
    assert size >= 0


WHOLE = written(compression="zstd")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"\x15\x00\x15", "ends outside"),
        (b"\x15\x00\x00", "without its sizes"),
        (b"\x15\x00\x15\x01\x15\x00\x00", "can not be"),
        (b"\x15\x00\x15\x02\x15\x64\x00", "ends outside"),
        (b"\x1c" * 40, "too deep"),
        (b"\x19\x00", "kind 9"),
        (b"\x15" + b"\xff" * 12, "too long"),
        (b"\x15\x00\x05\x02\x00\x00", "twice"),
    ],
)
def test_what_is_no_header(page, said):
    class Chunk:
        num_values, data_page_offset, has_dictionary_page = 1, 0, False
        total_compressed_size = len(page)

    class Group:
        num_columns, column = 1, staticmethod(lambda _: Chunk)

    class Metadata:
        num_row_groups, row_group = 1, staticmethod(lambda _: Group)

    with pytest.raises(ValueError, match=said):
        unpacked_size(page, Metadata)
