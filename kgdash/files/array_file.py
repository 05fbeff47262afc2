"""Named arrays and lists of texts in one file, mapped from it when they are read.

An Arrow file with a batch of one row for each: its name, and its values as the list in the column
of their type. The schema may carry notes. After Arrow's end stands the SHA-256 of all before it.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

#: values of a file: numbers of some types, or texts
Values: TypeAlias = "np.ndarray | pa.LargeStringArray"

_NAME = "name"
_TYPES = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "text": pa.large_string(),
}
_SCHEMA = pa.schema(
    [(_NAME, pa.string()), *((column, pa.large_list(each)) for column, each in _TYPES.items())]
)

#: bytes of the sum
_SUM = hashlib.sha256().digest_size


def write_arrays(
    path: Path, parts: Iterable[tuple[str, Values]], metadata: dict[bytes, bytes]
) -> None:
    """Write parts one after the other: each may be gone before the next is made.

    :param parts: names, and int32 or int64 of any shape, which is not kept, or texts, none missing
    :param metadata: of the schema
    :raises OSError: if the file can not be written
    """
    schema = _SCHEMA.with_metadata(metadata)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for name, values in parts:
            writer.write_batch(_batch(schema, name, values))
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").digest()
    with path.open("ab") as stream:
        stream.write(found)


def read_arrays(path: Path) -> dict[str, Values]:
    """Map what `write_arrays` wrote, once all bytes are found to be those.

    :return: by name; arrays are flat, and what is written into them stays in this process
    :raises OSError, ValueError, KeyError, pa.ArrowException: if the file is missing or damaged
    """
    whole = np.asarray(np.memmap(path, dtype=np.uint8, mode="c"))
    if hashlib.sha256(whole[:-_SUM].data).digest() != whole[-_SUM:].tobytes():
        raise ValueError(f"{path.name} is not what was written")
    reader = pa.ipc.open_file(pa.py_buffer(whole[:-_SUM]))
    batches = map(reader.get_batch, range(reader.num_record_batches))
    return dict(_values(batch, whole) for batch in batches)


def read_schema(path: Path) -> pa.Schema:
    """Return the schema of a file, unchecked.

    :raises OSError, ValueError, pa.ArrowException: if the file is missing or damaged
    """
    whole = np.memmap(path, dtype=np.uint8, mode="r")
    return pa.ipc.open_file(pa.py_buffer(whole[:-_SUM])).schema


def _batch(schema: pa.Schema, name: str, values: Values) -> pa.RecordBatch:
    of_numbers = isinstance(values, np.ndarray)
    kind = str(values.dtype) if of_numbers else "text"
    each = pa.array(values.reshape(-1)) if of_numbers else values
    row = pa.LargeListArray.from_arrays(pa.array([0, len(each)], pa.int64()), each)
    columns = {_NAME: pa.array([name]), kind: row}
    empty = {field.name: pa.nulls(1, field.type) for field in schema}
    return pa.RecordBatch.from_arrays(list((empty | columns).values()), schema=schema)


def _values(batch: pa.RecordBatch, whole: np.ndarray) -> tuple[str, Values]:
    column = next(each for each in _TYPES if batch.column(each).null_count == 0)
    values = batch.column(column).values
    if column != "text":
        # Arrow gives what it maps for reading only, which kernels are not compiled for.
        begin = values.buffers()[1].address - whole.ctypes.data
        values = whole[begin : begin + len(values) * np.dtype(column).itemsize].view(column)
    return batch.column(_NAME)[0].as_py(), values
