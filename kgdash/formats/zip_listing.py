"""Zip files from outside: what lists their files is bounded before an object is made of each."""

import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from kgdash.errors import KgdashError

#: bytes of a listing: each file takes 46, its name and more; models have tens
MOST_LISTED = 2**20


@contextmanager
def open_zip(stream: IO[bytes], shown: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip file for reading.

    :param shown: its name, for messages
    :raises KgdashError: if its listing is longer than `MOST_LISTED`
    :raises Exception: of `zipfile`, if it is damaged
    """
    listing = _Listing(stream, shown)
    with zipfile.ZipFile(cast(IO[bytes], listing)) as archive:
        listing.is_read = True
        yield archive


def check_end(stream: IO[bytes], shown: str) -> None:
    """Refuse a zip file whose listing is not where it says, where others would read another one.

    :raises KgdashError: also where a comment, or anything else, follows
    """
    whole = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, whole - 98))
    end, length = stream.read(), 22
    size, place = struct.unpack("<II", end[-10:-2])
    plain = end[-22:-18] == b"PK\5\6"
    if end[-42:-38] == b"PK\6\7":  # of 64 bits
        plain &= end[:4] == b"PK\6\6" and struct.unpack("<Q", end[-34:-26]) == (whole - 98,)
        (size, place), length = struct.unpack("<QQ", end[40:56]), 98
    if not plain or place + size + length != whole:
        raise KgdashError(f"{shown}: its list of files is not where it says; save it again")


class _Listing:
    """A stream that is asked for the listing in one piece, as long as the file says it is."""

    def __init__(self, stream: IO[bytes], shown: str) -> None:
        self._stream, self._shown, self.is_read = stream, shown, False

    def read(self, size: int = -1) -> bytes:
        """Read what is asked for, unless that is a listing too long."""
        if size > MOST_LISTED and not self.is_read:
            raise KgdashError(
                f"{self._shown} lists its files in {size:,} bytes; expected at most "
                f"{MOST_LISTED:,}: save it again, with what is needed alone"
            )
        return self._stream.read(size)

    def __getattr__(self, name: str) -> Any:
        """Do as the stream does."""
        return getattr(self._stream, name)
