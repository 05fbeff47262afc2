"""What was found: made small, and kept as a file that a test reads for ever."""

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fuzz.harness import reset_peak, run_case, scratch
from tests.fuzz.mutation.containers import pack, unpack
from tests.fuzz.reader import Reader

FOUND = Path(__file__).with_name("found")

#: seconds that making one small may take
_PATIENCE = 20.0

#: bytes of a file that is kept
_MOST = 1 << 20


def kept_contents() -> Iterator[tuple[str, Path]]:
    """Go through what was found: name of the reader, and file."""
    for path in sorted(FOUND.glob("*/*")):
        yield path.parent.name, path


def keep(reader: Reader, data: bytes) -> Path | None:
    """Keep a content, if it is not too large; return its file."""
    path = FOUND / reader.name / hashlib.sha256(data).hexdigest()[:16]
    if len(data) > _MOST:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def smaller(reader: Reader, data: bytes, kind: str) -> bytes:
    """Return a small content with a finding of the same kind; the same if none is quickly found."""
    end = time.monotonic() + _PATIENCE
    with scratch() as folder:

        def fails(content: bytes) -> bool:
            finding = run_case(reader, content, folder)
            reset_peak()
            return finding is not None and finding.kind == kind and time.monotonic() < end

        if not reader.is_folder:
            return _shortened(data, fails)
        files = unpack(data)
        seeds = [unpack(seed) for seed in reader.seeds]
        for name in list(files):
            for original in (seed[name] for seed in seeds if name in seed):
                if original != files[name] and fails(pack(files | {name: original})):
                    files[name] = original
            part = files | {}
            files[name] = _shortened(
                files[name], lambda content, n=name, p=part: fails(pack(p | {n: content}))
            )
        return pack(files)


def _shortened(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Leave out parts, halves first, as long as it fails."""
    length = len(data) // 2
    while length:
        place = 0
        while place < len(data):
            without = data[:place] + data[place + length :]
            if fails(without):
                data = without
            else:
                place += length
        length //= 2
    return data
