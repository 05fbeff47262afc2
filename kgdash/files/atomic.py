"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError


@contextmanager
def atomic_file(out: Path) -> Iterator[Path]:
    """Give the block another path in the same folder to write, and move that file to ``out``.

    If the block raises, what it wrote is removed and ``out`` stays as it was. Killed in between, a
    process leaves a file ``.{name of out}-….part``.

    :raises OSError: if the folder can not be made or written
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}-", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)


def write_atomically(out: Path, write: Callable[[Path], Any]) -> None:
    """Write a file that somebody asked for and may share: whole or not at all, readable by all.

    :param write: writes the content to the path that it is given
    :raises KgdashError: if the file can not be written
    """
    try:
        with atomic_file(out) as part:
            write(part)
            part.chmod(0o644)
    except OSError as error:
        raise KgdashError(f"can not write {out}: {error.strerror or error}") from error
