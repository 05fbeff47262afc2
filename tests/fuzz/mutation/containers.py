"""Changes inside what is packed: gzip, zip files, folders; their files change as their kind does.

A folder is a zip file that stores its files; the harness unpacks it.
"""

import gzip
import io
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from random import Random

from tests.fuzz.mutation.arrays import change_hdf5, change_npy, change_safetensors
from tests.fuzz.mutation.bytewise import change_bytes
from tests.fuzz.mutation.json_tree import change_json, change_json_lines
from tests.fuzz.mutation.parquet import change_parquet
from tests.fuzz.mutation.pickles import change_pickle
from tests.fuzz.mutation.sqlite import change_sqlite
from tests.fuzz.mutation.text import change_settings, change_table

Change = Callable[[bytes, Random], bytes]


def change_file(name: str, data: bytes, random: Random) -> bytes:
    """Change a file as its extension says that it is built."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".pkl" and data.startswith(b"PK"):
        suffix = ".pt"
    return CHANGES.get(suffix, change_table)(data, random)


def pack(files: dict[str, bytes], deflated: bool = False) -> bytes:
    """Put files into a zip file, the same bytes every time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            archive.writestr(info, content)
    return out.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def change_folder(data: bytes, random: Random) -> bytes:
    """Change one file of a folder; now and then one is gone, or stands for another."""
    files = unpack(data)
    if not files:
        return data
    name = random.choice(list(files))
    kind = random.randrange(24)
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[name] = random.choice(list(files.values()))
    elif kind <= 8:
        files[name] = change_bytes(files[name], random)
    else:
        files[name] = change_file(name, files[name], random)
    return pack(files)


def change_zip(data: bytes, random: Random) -> bytes:
    """Change a file in a zip file, its name, or how it is packed."""
    try:
        files = list(unpack(data).items())
    except Exception:  # an earlier change broke it
        return change_bytes(data, random)
    if not files:
        return change_bytes(data, random)
    place = random.randrange(len(files))
    name, content = files[place]
    kind = random.randrange(12)
    if kind == 0:
        del files[place]
    elif kind == 1:
        files.insert(place, (name, content))
    elif kind == 2:
        files[place] = (random.choice(_NAMES) + name, content)
    elif kind == 3:
        files[place] = (random.choice(files)[0], content)
    elif kind <= 6:
        files[place] = (name, change_bytes(content, random))
    else:
        files[place] = (name, change_file(name, content, random))
    out = io.BytesIO()
    deflated = random.random() < 0.2
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each, inside in files:
            info = zipfile.ZipInfo(each)
            if deflated:
                info.compress_type = zipfile.ZIP_DEFLATED
            if random.random() < 0.02:
                info.external_attr = random.getrandbits(32)
            archive.writestr(info, inside)
    return out.getvalue()


def change_gzip(data: bytes, random: Random) -> bytes:
    """Change what is packed with gzip; now and then the packing itself."""
    if random.random() < 0.1:
        return change_bytes(data, random)
    try:
        inside = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return change_bytes(data, random)
    change = change_bytes if random.random() < 0.3 else change_table
    return gzip.compress(change(inside, random), 1, mtime=0)


_NAMES = ("../", "/", "a/", "\\", "C:", "\0", "./", "é", "x" * 300, "archive/")

#: extension -> what changes such a file
CHANGES: dict[str, Change] = {
    ".tsv": change_table,
    ".csv": change_table,
    ".txt": change_table,
    ".json": change_json,
    ".jsonl": change_json_lines,
    ".toml": change_settings,
    ".gz": change_gzip,
    ".pkl": change_pickle,
    ".ampkl": change_pickle,
    ".index": change_bytes,
    ".pb": change_bytes,
    ".data-00000-of-00001": change_bytes,
    ".npy": change_npy,
    ".npz": change_zip,
    ".pt": change_zip,
    ".zip": change_zip,
    ".safetensors": change_safetensors,
    ".parquet": change_parquet,
    ".h5": change_hdf5,
    ".db": change_sqlite,
    ".folder": change_folder,
}
