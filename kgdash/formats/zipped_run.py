"""A run that was handed in as a zip file: looked at before anything is unpacked.

Only the files of a run are unpacked, each under its own name below one folder; a file that is not
what it says, or could fill the disk, is refused whole.
"""

import io
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from kgdash.errors import KgdashError
from kgdash.files.byte_sizes import written_size
from kgdash.formats.pykeen_directory import MODEL_FILE
from kgdash.formats.pykeen_results import RESULTS_FILE
from kgdash.formats.run_directory import GRAPH, MANIFEST, TRIPLES, WEIGHTS
from kgdash.formats.tensor_file import LENGTH_BYTES, check_header

#: of the zip file, in MiB
MOST_MIB = 256
#: bytes of what is unpacked, together
MOST_UNPACKED = 2**30
#: bytes that any zip file may unpack to, and how many times its own size beyond that: a run is
#: weights, which hardly pack
FREE_UNPACKED, MOST_DENSE = 2**26, 20
#: entries
MOST_FILES = 256
#: how many times as large as in the zip a file may be, if larger than a MiB
MOST_RATIO = 200
#: bytes of a file of JSON, which may take twenty times as much in memory, and of what is recorded
#: of a run, which stays there as long as the run is loaded
MOST_JSON, MOST_RECORD = 2**24, 2**22

#: the files of a run in our form; those that are read of a PyKEEN directory
FILES = (MANIFEST, WEIGHTS, GRAPH, TRIPLES, "groupings.json")
_PYKEEN_FILES = (
    MODEL_FILE,
    RESULTS_FILE,
    "training_triples/entity_to_id.tsv.gz",
    "training_triples/relation_to_id.tsv.gz",
    "training_triples/numeric_triples.tsv.gz",
)

#: bytes of an entry in the directory at the end: 46, a name, more
_ENTRY, _END = 1024, 22


def unpack_run(content: bytes, shown: str, out: Path) -> Path:
    """Unpack the one run in a zip file; what else it holds is left out.

    :param content: of the zip file
    :param shown: its name, for messages
    :param out: folder to make
    :return: ``out``
    :raises KgdashError: if it is no zip file, holds no run or several, names that lead elsewhere,
        links, or more than the limits allow; ``out`` may then hold a part
    """
    if len(content) > MOST_MIB * 2**20:
        raise KgdashError(f"{shown} is larger than {MOST_MIB} MiB; name its folder instead")
    _check_end(content, shown)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [each for each in archive.infolist() if not each.filename.endswith("/")]
            for info in entries:
                _check_entry(info, shown)
            wanted = _files_of_run(entries, shown)
            most = min(MOST_UNPACKED, max(FREE_UNPACKED, MOST_DENSE * len(content)))
            if sum(info.file_size for info in wanted.values()) > most:
                raise KgdashError(
                    f"{shown} would unpack to more than {written_size(most)}; name its folder "
                    "instead"
                )
            for name, info in wanted.items():
                most = MOST_RECORD if name in (MANIFEST, RESULTS_FILE) else MOST_JSON
                if name.endswith(".json") and info.file_size > most:
                    raise KgdashError(
                        f"{name} in {shown} is larger than {written_size(most)}; name its folder "
                        "instead"
                    )
                if name in (WEIGHTS, TRIPLES):
                    with archive.open(info) as packed:
                        start = packed.read(LENGTH_BYTES)
                    check_header(start, info.file_size, f"{name} in {shown}")
                path = out / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as packed, path.open("wb") as file:
                    shutil.copyfileobj(packed, file, 2**20)  # never more than it says at once
    except KgdashError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        RuntimeError,
        ValueError,
        OverflowError,
    ) as error:
        raise KgdashError(f"{shown} is not a whole zip file: {error}; pack it again") from error
    except OSError as error:
        raise KgdashError(f"can not unpack {shown}: {error.strerror or error}") from error
    return out


def _check_end(content: bytes, shown: str) -> None:
    """Refuse what does not end as plain zip files do, and a directory that would fill memory."""
    end = content[-_END:]
    if len(end) < _END or not end.startswith(b"PK\5\6") or end[-2:] != b"\0\0":
        raise KgdashError(f"{shown} is not a zip file; pack the folder of a run as one")
    if content[-_END - 20 :].startswith(b"PK\6\7"):
        raise KgdashError(f"{shown} is a zip file for more than 4 GiB; name its folder instead")
    files, size = struct.unpack("<HI", end[10:16])
    if files > MOST_FILES or size > MOST_FILES * _ENTRY:
        raise KgdashError(f"{shown} holds more than {MOST_FILES} files; pack one run")


def _check_entry(info: zipfile.ZipInfo, shown: str) -> None:
    path, name = PurePosixPath(info.filename), f"{info.filename[:80]!r} in {shown}"
    odd = "\\" in info.filename or ":" in info.filename or "\0" in info.orig_filename
    if odd or path.is_absolute() or ".." in path.parts or not path.parts:
        raise KgdashError(f"{name} leads out of the folder; pack the folder of a run again")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise KgdashError(f"{name} is a link or no file; pack the files themselves")
    if info.flag_bits & 1:
        raise KgdashError(f"{name} is encrypted; pack it without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise KgdashError(f"{name} is packed in an unusual way; pack it with deflate")
    if info.file_size > max(2**20, MOST_RATIO * info.compress_size):
        raise KgdashError(
            f"{name} says that it unpacks to over {MOST_RATIO} times its size; name its folder "
            "instead"
        )


def _files_of_run(entries: Sequence[zipfile.ZipInfo], shown: str) -> dict[str, zipfile.ZipInfo]:
    """Find the run's folder in the zip, and its files by their path below that."""
    by_name: dict[str, zipfile.ZipInfo] = {}
    for info in entries:
        name = str(PurePosixPath(info.filename))
        if name in by_name:
            raise KgdashError(f"{shown} holds {name[:80]!r} twice; pack it again")
        by_name[name] = info
    roots = {PurePosixPath(n).parent for n in by_name if PurePosixPath(n).name == MANIFEST}
    files: Sequence[str] = FILES
    if not roots:
        roots = {PurePosixPath(n).parent for n in by_name if PurePosixPath(n).name == MODEL_FILE}
        files = _PYKEEN_FILES
    if len(roots) != 1:
        found = (
            ", ".join(sorted(map(str, roots))[:4]) or ", ".join(sorted(by_name)[:4]) or "nothing"
        )
        raise KgdashError(
            f"expected one run in {shown}: {MANIFEST} (our form) or {MODEL_FILE} (PyKEEN's); found "
            f"{len(roots)} ({found[:200]})"
        )
    (root,) = roots
    paths = {name: str(root / name) for name in files}
    return {name: by_name[path] for name, path in paths.items() if path in by_name}
