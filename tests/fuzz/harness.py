"""One case: a content is read within bounds of time and memory, and what it did is looked at."""

import contextlib
import os
import resource
import shutil
import signal
import tempfile
import time
import traceback
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from kgdash.errors import KgdashError
from tests.fuzz.mutation.containers import unpack
from tests.fuzz.reader import Reader

#: bytes that a case may take beyond what the process held before
MEMORY = 512 * 2**20

#: characters of a message: what a file holds is quoted in part
_LONGEST = 4_000


class TooLong(BaseException):
    """Raised in the midst of a case that takes too long."""


@dataclass(frozen=True)
class Finding:
    """What a case did wrong: ``kind`` is the same for cases with the same cause, as far as told."""

    kind: str
    detail: str


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder for cases, to which the environment's folders point."""
    before = tempfile.tempdir
    folder = Path(tempfile.mkdtemp(prefix="kgdash-fuzz-", dir=_memory_disk()))
    kept = {name: os.environ.get(name) for name in _FOLDERS}
    try:
        for name, part in _FOLDERS.items():
            os.environ[name] = part if name == "KGDASH_PREPARE" else str(folder / part)
        (folder / "tmp").mkdir()
        tempfile.tempdir = str(folder / "tmp")
        yield folder
    finally:
        tempfile.tempdir = before
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(folder, ignore_errors=True)


_FOLDERS = {
    "KGDASH_DATA": "data",
    "KGDASH_CACHE": "cache",
    "KGDASH_RUNS": "runs",
    "KGDASH_PREPARE": "off",
}


def warm_up(reader: Reader, folder: Path) -> None:
    """Read the contents to begin from, without bounds: what is loaded at first takes long."""
    for data in reader.seeds:
        with contextlib.suppress(Exception):
            _lay(reader, data, folder)
            reader.read(folder / reader.place)
        _clear(folder)


def run_case(reader: Reader, data: bytes, folder: Path) -> Finding | None:
    """Let a reader read a content and return what was wrong with that.

    :param folder: of `scratch`; nothing but the case lies in it meanwhile
    """
    try:
        laid = _lay(reader, data, folder)
    except (zipfile.BadZipFile, OSError, ValueError):  # no folder at all
        _clear(folder)
        return None
    memory, start = _peak(), time.process_time()
    try:
        with _alarm(reader.seconds):
            reader.read(folder / reader.place)
        finding = None
    except KgdashError as error:
        finding = _of_message(str(error))
    except TooLong as error:
        finding = _of_error(error, "takes too long")
    except (Exception, RecursionError, MemoryError) as error:
        finding = _of_error(error, type(error).__name__)
    seconds, grown = time.process_time() - start, _peak() - memory
    left = {
        path
        for path in set(_files(folder)) - laid
        if Path(path).relative_to(folder).parts[0] not in reader.leaves
    }
    if finding is None and left:
        finding = Finding("leaves a file", ", ".join(sorted(map(str, left)))[:500])
    if finding is None and seconds > reader.seconds:
        finding = Finding("takes too long", f"{seconds:.1f} s")
    if finding is None and grown > MEMORY:
        finding = Finding("takes too much memory", f"{grown / 2**20:,.0f} MiB")
    _clear(folder)
    return finding


def limit_memory() -> None:
    """Keep a case from taking the machine: far beyond the bound there is no memory left."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + 4 * MEMORY, hard))


def reset_peak() -> None:
    """Let what the process held at most begin anew with what it holds now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    # Again and again: the first may be raised where nobody passes it on, as in a destructor.
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _lay(reader: Reader, data: bytes, folder: Path) -> set[str]:
    """Write the files of a case; return their paths."""
    path, files = str(folder / reader.place), {"": data}
    if reader.is_folder:
        os.makedirs(path, exist_ok=True)
        files = {f"/{name}": content for name, content in unpack(data).items()}
    for name, content in files.items():
        os.makedirs(os.path.dirname(path + name), exist_ok=True)
        with open(path + name, "wb") as stream:
            stream.write(content)
    return {path + name for name in files}


def _files(folder: Path) -> list[str]:
    return [f"{place}/{name}" for place, _, names in os.walk(folder) for name in names]


def _clear(folder: Path) -> None:
    """Remove all files; their folders stay, as nothing hinges on these."""
    for path in _files(folder):
        os.unlink(path)


def _of_message(text: str) -> Finding | None:
    if not text.strip():
        return Finding("says nothing", "")
    if len(text) > _LONGEST:
        return Finding("says too much", f"{len(text):,} characters: {text[:200]}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return Finding("says what can not be printed", repr(text)[:500])
    return None


def _of_error(error: BaseException, kind: str) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/kgdash/" in frame.filename.replace("\\", "/")]
    at = own[-1] if own else frames[-1]
    where = f"{Path(at.filename).name}: {at.name}"
    lines = traceback.format_exception(error)
    return Finding(f"{kind} in {where}", "".join(lines)[-3000:])


def _memory_disk() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
