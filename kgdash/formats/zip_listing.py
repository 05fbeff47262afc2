"""Zip files from outside: what lists their files is bounded before an object is made of each."""

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
