"""Text that a user gives as a file, plain or packed, refused where it is too large or no text."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from kgdash.errors import KgdashError

#: uncompressed size at which a file is refused
MAX_BYTES = 64 * 2**20


def uploaded_text(source: str | Path | bytes, shown: str) -> str:
    """Read a file as UTF-8, with or without a byte order mark.

    :param source: a path, or the content; plain or .gz
    :param shown: what to call the file in messages
    :raises KgdashError: if it can not be read, is too large or is not UTF-8, with file and line
    """
    content = _bytes(source, shown)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KgdashError(
            f"expected UTF-8 text; found byte 0x{content[error.start]:02x} ({shown}, line {line}). "
            "Save the file as UTF-8"
        ) from error


def _bytes(source: str | Path | bytes, shown: str) -> bytes:
    """Return the content, unpacked, refusing what is too large before holding all of it."""
    try:
        if not isinstance(source, bytes):
            with Path(source).open("rb") as stream:
                source = stream.read(MAX_BYTES + 1)
        if source[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(source)) as stream:
                source = stream.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KgdashError(f"{shown} is not a whole gzip file ({error}); fetch it again") from error
    except OSError as error:
        raise KgdashError(f"can not read {shown}: {error.strerror or error}") from error
    if len(source) > MAX_BYTES:
        raise KgdashError(
            f"{shown} holds more than {MAX_BYTES // 2**20} MiB of text; keep less of it"
        )
    return source
