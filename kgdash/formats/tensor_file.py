"""Safetensors from outside: the header, which may list millions of empty tensors, is bounded.

A file begins with the header's length, of eight bytes; what is over the bound is refused by it,
before the library makes an object of each tensor.
"""

import io
from collections.abc import Collection
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular

#: bytes of a header: some thousands of tensors, of which models have tens
MOST_HEADER = 2**20

#: bytes of the header's length
LENGTH_BYTES = 8


def read_tensors(
    path: Path, most: int | None = None, names: Collection[str] | None = None
) -> dict[str, torch.Tensor]:
    """Return the tensors of a file by name, mapped from it.

    :param most: bytes at which the file is refused unread
    :param names: of those that are wanted, where not all are; what the file lacks is left out
    :raises KgdashError: if the file can not be read, is no whole safetensors file, or its header
        is longer than `MOST_HEADER`
    """
    try:
        with open_tensors(path, most) as file:
            if names is None:
                found: dict[str, torch.Tensor] = file.get_tensors()
                return found
            present = set(file.keys())
            return {name: file.get_tensor(name) for name in names if name in present}
    except (SafetensorError, OSError, TypeError, RuntimeError) as error:
        raise _damaged(path, error) from error


def open_tensors(
    path: Path, most: int | None = None, most_header: int = MOST_HEADER
) -> "safe_open":
    """Open a file, to read its notes and tensors one by one.

    :param most: bytes at which it is refused unread
    :param most_header: bytes
    :raises KgdashError: as `read_tensors`
    """
    try:
        with open_regular(path, most) as stream:
            start = stream.read(LENGTH_BYTES)
            size = stream.seek(0, io.SEEK_END)
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    check_header(start, size, str(path), most_header)
    try:
        return safe_open(path, "pt")
    except (SafetensorError, OSError, TypeError, RuntimeError) as error:
        raise _damaged(path, error) from error


def check_header(start: bytes, size: int, shown: str, most: int = MOST_HEADER) -> None:
    """Refuse a file whose header is too long; one that is longer than its file is none.

    :param start: the file's first `LENGTH_BYTES`
    :param size: bytes of the file
    :param shown: its name, for messages
    :param most: bytes
    :raises KgdashError: if it is longer
    """
    length = int.from_bytes(start, "little")
    if most < length <= size - LENGTH_BYTES:
        raise KgdashError(
            f"{shown} has a header of {length:,} bytes; the list of a model's tensors takes less "
            f"than {most:,}: write the file again, with those alone"
        )


def _damaged(path: Path, error: Exception) -> KgdashError:
    reason = str(error).partition("\n")[0]
    return KgdashError(f"{path} is not a whole safetensors file: {reason:.120}; copy it again")
