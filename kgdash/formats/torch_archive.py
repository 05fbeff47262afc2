"""Read the archives of ``torch.save``: a pickle and its storages in an uncompressed zip file."""

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kgdash.errors import KgdashError
from kgdash.files.regular import check_regular
from kgdash.formats.pickle_records import CURE, Call, Global, brief, parse
from kgdash.formats.zip_listing import check_end, open_zip

#: what torch names an archive's entries: it looks for them by bytes, in any case, and takes a
#: program instead where there are constants
_NAME = re.compile(r"[ -.0-\[\]-~]+/(data\.pkl|data/[0-9]+|byteorder|version|\.[a-z_./]+)")

#: the largest pickle inside a model's archive; PyKEEN's take some ten kilobytes
MAX_PICKLE = 1 << 20

DTYPES = {
    "torch.FloatStorage": torch.float32,
    "torch.DoubleStorage": torch.float64,
    "torch.HalfStorage": torch.float16,
    "torch.BFloat16Storage": torch.bfloat16,
    "torch.LongStorage": torch.int64,
    "torch.IntStorage": torch.int32,
    "torch.ShortStorage": torch.int16,
    "torch.CharStorage": torch.int8,
    "torch.ByteStorage": torch.uint8,
    "torch.BoolStorage": torch.bool,
    "torch.ComplexFloatStorage": torch.complex64,
    "torch.ComplexDoubleStorage": torch.complex128,
}

_LONGEST_KEY = 100


@dataclass(frozen=True, slots=True)
class Storage:
    """A block of ``numel`` numbers, kept in the archive under ``key``."""

    key: str
    dtype: torch.dtype
    numel: int


def read_inert(path: Path) -> tuple[Any, dict[str, bytearray]]:
    """Read an archive written by ``torch.save``.

    :return: the root of the tree of records, and the bytes of every storage that it mentions
    :raises KgdashError: if the file is no such archive, is damaged, or names anything not admitted
    """
    with damage_refused(path):
        _check_beginning(path)
        with path.open("rb") as stream, open_zip(stream, str(path)) as archive:
            check_end(stream, str(path))
            sizes = _entries(archive, path)
            root = next(iter(sizes)).split("/", 1)[0]
            if f"{root}/data.pkl" not in sizes:
                raise KgdashError(f"{path}: a zip file but not one of torch (no data.pkl); {CURE}")
            if sizes[f"{root}/data.pkl"] > MAX_PICKLE:
                raise KgdashError(f"{path}: its pickle is over {MAX_PICKLE:,} bytes; {CURE}")
            if f"{root}/byteorder" in sizes and archive.read(f"{root}/byteorder") != b"little":
                raise KgdashError(f"{path}: written on a big-endian machine, which is not read")
            storages: dict[str, bytearray] = {}
            dtypes: dict[str, torch.dtype] = {}

            def persistent(pid: object) -> Storage:
                storage = _storage(pid, path)
                if dtypes.setdefault(storage.key, storage.dtype) is not storage.dtype:
                    raise KgdashError(f"{path}: storage {storage.key} is of two types; {CURE}")
                name = f"{root}/data/{storage.key}"
                wanted = storage.numel * storage.dtype.itemsize
                if sizes.get(name, -1) != wanted:
                    found = f"{sizes[name]:,} bytes" if name in sizes else "nothing"
                    raise KgdashError(
                        f"{path}: storage {storage.key}: expected {wanted:,} bytes, found {found}"
                    )
                if storage.key not in storages:
                    storages[storage.key] = bytearray(archive.read(name))
                return storage

            tree = parse(archive.read(f"{root}/data.pkl"), persistent, str(path))
    return tree, storages


@contextmanager
def damage_refused(path: Path) -> Iterator[None]:
    """Turn whatever a damaged or hostile file trips into a refusal."""
    try:
        yield
    except KgdashError:
        raise
    except OSError as error:
        raise KgdashError(f"{path}: cannot be read: {error.strerror or error}") from error
    except zipfile.BadZipFile as error:
        raise KgdashError(f"{path}: damaged or cut short ({error}); copy it again") from error
    except (Exception, RecursionError, MemoryError) as error:
        raise KgdashError(f"{path}: damaged or not a model ({error!r:.200}); {CURE}") from error


def _check_beginning(path: Path) -> None:
    """Refuse files that are no zip archive, saying what they are."""
    check_regular(path)
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PK\x03\x04"):
        return
    resave = "load and save it again with a current torch where you trust it"
    if not start:
        found = "an empty file"
    elif start[2:14] == b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19":
        found = f"the format of torch before 1.6; {resave}"
    elif start[:1] == b"\x80":
        found = f"a plain pickle, not an archive of torch; {resave} (torch.save)"
    else:
        found = "not an archive of torch"
    raise KgdashError(f"{path}: {found}; {CURE}")


def _entries(archive: zipfile.ZipFile, path: Path) -> dict[str, int]:
    """Return the sizes of an archive's entries, refusing what torch never writes."""
    sizes: dict[str, int] = {}
    for entry in archive.infolist():
        name = entry.orig_filename  # as it stands there
        odd = not _NAME.fullmatch(name) or any(part in (".", "..") for part in name.split("/"))
        if odd or name != entry.filename or name in sizes:
            raise KgdashError(
                f"{path}: a zip file but not one of torch: odd name {name!r:.80}; {CURE}"
            )
        packed = entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size
        if packed or entry.flag_bits & 1:
            raise KgdashError(
                f"{path}: {entry.filename!r:.80} is compressed or encrypted; torch stores as is"
            )
        sizes[entry.filename] = entry.file_size
    if sum(sizes.values()) > path.stat().st_size:
        raise KgdashError(f"{path}: the entries of the archive claim more bytes than it has")
    if len({name.split("/", 1)[0] for name in sizes}) != 1:
        raise KgdashError(f"{path}: a zip file but not one of torch; {CURE}")
    return sizes


def _storage(pid: object, path: Path) -> Storage:
    """Read the reference to a storage: ("storage", type, key, device, number of elements)."""
    match pid:
        case ("storage", Global(name=kind), str(key), str(), int(numel)) if kind in DTYPES:
            # Torch numbers them; a file may name one again and again.
            if numel >= 0 and len(key) <= _LONGEST_KEY and key.isdecimal() and key.isascii():
                return Storage(key, DTYPES[kind], numel)
    raise KgdashError(f"{path}: cannot read the storage {brief(pid)}")


def rebuild_tensor(
    record: object, storages: Mapping[str, bytearray], name: str, where: str
) -> torch.Tensor:
    """Build a tensor from the record of ``_rebuild_parameter`` or ``_rebuild_tensor_v2``.

    :param storages: bytes by storage key
    :return: the tensor, a view of its storage
    :raises KgdashError: if it reaches beyond its storage, overlaps itself or is no plain tensor
    """
    if isinstance(record, Call) and record.name == "torch._utils._rebuild_parameter":
        record = record.args[0] if record.args else None
    match record:
        case Call(
            name="torch._utils._rebuild_tensor_v2",
            args=(Storage() as storage, int(offset), tuple(size), tuple(stride), _, _, *more),
        ) if not any(more):
            pass
        case _:
            raise KgdashError(f"{where}: {name}: expected a plain tensor, found {brief(record)}")
    if not _fits(storage.numel, offset, size, stride):
        raise KgdashError(
            f"{where}: {name}: shape {brief(size)}, stride {brief(stride)} and offset "
            f"{brief(offset)} do not fit a storage of {storage.numel:,} numbers"
        )
    if not storage.numel:
        return torch.empty(size, dtype=storage.dtype)
    flat = torch.frombuffer(storages[storage.key], dtype=storage.dtype)
    return flat.as_strided(size, stride, offset)


def _fits(numel: int, offset: int, size: tuple[Any, ...], stride: tuple[Any, ...]) -> bool:
    """Tell whether a view stays inside its storage and uses no number twice."""
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
        return False
    if 0 in size:
        return offset <= numel and max(size) <= numel
    reach = 0
    for step, count in sorted(zip(stride, size, strict=True)):
        if count > 1:
            if step <= reach:
                return False
            reach += step * (count - 1)
    return offset + reach < numel
