"""Matrices from outside, one per file: NumPy, safetensors, Parquet; no pickle among them."""

import io
import re
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.files.parquet.pages import plain_file
from kgdash.files.regular import open_regular
from kgdash.formats.run_record import is_number
from kgdash.formats.tensor_file import read_tensors

ENDINGS = (".npy", ".safetensors", ".parquet")

#: bytes at which a file is refused unread
_MOST = 2**36

#: what NumPy raises of headers that it can not read
_UNPARSABLE = (ValueError, SyntaxError, TypeError, LookupError, OverflowError, TokenError)

#: kinds of numbers that are weights: floats of 16 to 64 bits, complex, and whole numbers
_KINDS, _LARGEST_ITEM = "fciu", 16

#: numbers of a table for each of its bytes, and of any table: weights that were trained hardly pack
_MOST_PACKED, _FEW = 16, 2**22

#: axes of an array: matrices per relation have three
_MOST_AXES = 8


def find_matrix(folder: Path, stem: str) -> Path | None:
    """Return the file of a matrix, by any ending, or None.

    :raises KgdashError: if there are several
    """
    found = [path for ending in ENDINGS if (path := folder / f"{stem}{ending}").is_file()]
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise KgdashError(f"{folder} holds {names}, which may differ; keep one of them")
    return found[0] if found else None


def read_matrix(path: Path) -> np.ndarray:
    """Read one array of weights.

    :return: float32 or complex64; narrower and wider numbers are converted
    :raises KgdashError: if the file is none of the three kinds, damaged, too large or no array of
        numbers, or a number does not fit 32 bits
    """
    try:
        found = _READERS[path.suffix](path)
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    return single_precision(found, str(path))


def single_precision(values: np.ndarray, where: str) -> np.ndarray:
    """Return weights in 32 bits per real number.

    :raises KgdashError: if they are no numbers, or some are too large for that
    """
    if values.dtype.kind not in _KINDS or values.dtype.itemsize > _LARGEST_ITEM:
        raise KgdashError(f"{where}: expected floating point numbers; found {values.dtype}")
    target = np.complex64 if values.dtype.kind == "c" else np.float32
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(target, order="C", copy=False)
    if values.dtype.itemsize > narrow.dtype.itemsize:
        lost = np.isfinite(values) & ~np.isfinite(narrow)
        if lost.any():
            row = int(np.argwhere(lost)[0][0]) + 1
            raise KgdashError(
                f"{where}, row {row:,}: a number beyond 3.4e38, the largest of float32; scale the "
                "vectors down"
            )
    return narrow


def check_said(
    said: object, found: int, name: str, counted: str, where: object, times: int = 1
) -> None:
    """Refuse settings that say another number than was read: they are of other vectors.

    :param said: the number; None where they do not say it
    :param found: how many were read
    :param name: of the setting
    :param counted: what was read, as in "columns of entities"
    :param where: the file of settings
    :param times: how many there are for each that is said
    """
    if said is None:
        return
    if not is_number(said):
        raise KgdashError(f"{where}: expected a number as {name}; found {said!r:.40}")
    if said * times != found:
        raise KgdashError(
            f"{where}: {name} {said:.10g} tells of {said * times:,.10g} {counted}; found "
            f"{found:,}. It is of another training: take the file written with the vectors"
        )


def check_finite(values: np.ndarray, names: tuple[str, ...], where: str) -> None:
    """Refuse rows that are NaN or infinite, naming the first.

    :param names: of the rows; () if they have none
    """
    flat = values.reshape(len(values), -1)
    bad = ~np.isfinite(flat).all(axis=1)
    if not bad.any():
        return
    row = int(np.flatnonzero(bad)[0])
    kind = "NaN" if np.isnan(flat[row]).any() else "infinite"
    name = f" ({names[row]!r:.80})" if row < len(names) else ""
    cure = (
        "training has probably diverged"
        if kind == "NaN"
        else "float16 ends at 65,504: save the vectors as float32"
    )
    raise KgdashError(
        f"{where}, row {row + 1:,}{name}: the vector is {kind}, as are {int(bad.sum()) - 1:,} "
        f"others; {cure}"
    )


def _npy(path: Path) -> np.ndarray:
    """Read a NumPy file: what it says of itself is held against its size before memory is taken."""
    with open_regular(path, _MOST) as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        try:
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }
            if version not in read:
                raise ValueError(f"version {version[0]}.{version[1]} of the format is not read")
            shape, fortran, dtype = read[version](stream)
        except (*_UNPARSABLE, RecursionError, MemoryError) as error:
            raise KgdashError(
                f"{path} is no NumPy file of numbers ({error!s:.120}); write it with numpy.save"
            ) from error
        if dtype.hasobject or dtype.kind not in _KINDS:
            raise KgdashError(f"{path}: expected floating point numbers; found {dtype!s:.60}")
        if len(shape) > _MOST_AXES or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
            raise KgdashError(f"{path}: {shape!s:.60} is no shape of a matrix; write it again")
        count = 1
        for length in shape:
            count *= int(length)
        wanted = count * dtype.itemsize
        if not 0 <= wanted == size - stream.tell():
            raise KgdashError(
                f"{path} is cut short or damaged: shape {shape!s:.60} takes {wanted:,} bytes, the "
                f"file has {size - stream.tell():,}; copy it again"
            )
        flat = np.fromfile(stream, dtype=dtype, count=count)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _safetensors(path: Path) -> np.ndarray:
    tensors = read_tensors(path, _MOST)
    if len(tensors) == 1:
        (tensor,) = tensors.values()
    elif path.stem in tensors:
        tensor = tensors[path.stem]
    else:
        names = ", ".join(sorted(tensors)) or "nothing"
        raise KgdashError(
            f"{path}: expected one tensor, or one named {path.stem}; found {names:.200}"
        )
    return numbers(tensor, str(path))


def numbers(tensor: torch.Tensor, where: str) -> np.ndarray:
    """Return a tensor as an array; bfloat16, which NumPy does not have, is widened.

    :raises KgdashError: if it is of a kind that is no number
    """
    try:
        return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    except (TypeError, RuntimeError, ValueError) as error:
        raise KgdashError(
            f"{where}: expected numbers; found {tensor.dim()} axes of {tensor.dtype}"
        ) from error


def _parquet(path: Path) -> np.ndarray:
    """Read a table: a column of numbers per dimension, or one column of lists."""
    with open_regular(path, min(_MOST, memory_budget())) as stream:
        content = stream.read()
    try:
        plain = plain_file(content)
        if plain.values > memory_budget() // 16 or plain.size > memory_budget():
            raise KgdashError(
                f"{path} unpacks to more than fits; save it as .npy, or raise KGDASH_MEMORY"
            )
        if plain.values > max(_FEW, _MOST_PACKED * len(content)):
            raise KgdashError(
                f"{path} unpacks to {plain.values:,} numbers, nearly all alike; save it as .npy"
            )
        file = pq.ParquetFile(io.BytesIO(plain.content))
        _check_columns(file.schema_arrow, path)
        table = file.read(columns=_dimensions(file.schema_arrow.names, path))
        table.validate(full=True)
        return _from_table(table, path)
    except (KgdashError, MemoryError):  # of Arrow's errors that of memory is one
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise KgdashError(
            f"{path} is no Parquet file of numbers ({error!s:.120}); write it again"
        ) from error


def check_same_order(one: Path, other: Path) -> None:
    """Refuse two Parquet files of the same columns in another order: which is which, who knows?

    :param one: that `read_matrix` read, as the other
    :raises KgdashError: naming both
    """
    if one.suffix == other.suffix == ".parquet":
        contents = (plain_file(path.read_bytes()).content for path in (one, other))
        schemas = [pq.ParquetFile(io.BytesIO(content)).schema_arrow for content in contents]
        first, second = map(_dimensions, (schema.names for schema in schemas), (one, other))
        if first != second and set(first) == set(second):
            raise KgdashError(
                f"{one} and {other} have the same columns in another order; write both in one"
            )


def _dimensions(names: list[str], path: Path) -> list[str]:
    """Put columns that are named by one word and their number in the order of their numbers.

    Two files may have them in different ones. An index that pandas wrote is no dimension.

    :raises KgdashError: if some have a name of another kind, as an index with a name has
    """
    names = [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]
    numbered = [found for name in names if (found := re.fullmatch(r"(.*?)([0-9]{1,9})", name))]
    if len({found[1] for found in numbered}) != 1:
        return names
    if other := [name for name in names if name not in {found[0] for found in numbered}]:
        raise KgdashError(
            f"{path}: expected a column per dimension, named {numbered[0][0]:.40} and so on; found "
            f"{', '.join(other):.120} beside them. Write the file without an index"
        )
    return [found[0] for found in sorted(numbered, key=lambda found: int(found[2]))]


def _check_columns(schema: Any, path: Path) -> None:
    """Refuse columns of other than numbers before they are read.

    A page may say one long text again and again.
    """
    if len(schema) == 1 and pa.types.is_list(schema.types[0]):
        kind = schema.types[0].value_type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise KgdashError(f"{path}: expected lists of numbers; found lists of {kind!s:.80}")
        return
    wrong = [f.name for f in schema if not pa.types.is_floating(f.type)]
    if wrong or not len(schema):
        raise KgdashError(
            f"{path}: expected a column of floating point numbers per dimension, or one of lists; "
            f"found {', '.join(wrong)[:120] or 'no column'}"
        )


def _from_table(table: Any, path: Path) -> np.ndarray:
    if table.num_columns == 1 and pa.types.is_list(table.schema.types[0]):
        column = table.column(0).combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        flat = column.flatten().to_numpy(zero_copy_only=False)
        if column.null_count or not len(column) or len(flat) % len(column):
            raise KgdashError(f"{path}: expected lists of one length; found others, or none")
        width = len(flat) // len(column)
        if np.any(np.diff(column.offsets.to_numpy()) != width):
            raise KgdashError(f"{path}: expected lists of one length; found others")
        return flat.reshape(len(column), width)
    return np.stack([c.to_numpy(zero_copy_only=False) for c in table.columns], axis=1)


_READERS = {".npy": _npy, ".safetensors": _safetensors, ".parquet": _parquet}
