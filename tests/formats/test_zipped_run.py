"""Zip files that people hand in: what is unpacked, and what is refused before."""

import contextlib
import io
import random
import stat
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.formats import zipped_run
from kgdash.formats.zipped_run import FILES, unpack_run
from tests.support.tensor_files import listing

WHOLE = {name: name.encode() for name in FILES[:4]}


def packed(files: dict[str, bytes], **options) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", options.pop("compression", zipfile.ZIP_DEFLATED)) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = archive.compression
            for key, value in options.items():
                setattr(info, key, value)
            archive.writestr(info, content)
    return buffer.getvalue()


def files_below(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("root", ["", "my-run/", "deep/down/"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_files_of_a_run_and_no_others(tmp_path, root, compression):
    files = {root + name: content for name, content in WHOLE.items()}
    more = {
        "README.md": b"x",
        "__MACOSX/._run.json": b"x",
        f"{root}evil.py": b"x",
        f"{root}sub/weights.safetensors": b"x",
    }
    unpack_run(packed(files | more, compression=compression), "a.zip", tmp_path / "out")
    assert files_below(tmp_path) == {f"out/{name}": content for name, content in WHOLE.items()}


def test_a_pykeen_directory(tmp_path):
    files = {
        "trained_model.pkl": b"pickle",
        "results.json": b"{}",
        "metadata.json": b"{}",
        "training_triples/base.pth": b"pickle",
        "training_triples/entity_to_id.tsv.gz": b"e",
    }
    unpack_run(packed({f"x/{n}": c for n, c in files.items()}), "a.zip", tmp_path / "out")
    kept = ("trained_model.pkl", "results.json", "training_triples/entity_to_id.tsv.gz")
    assert files_below(tmp_path / "out") == {name: files[name] for name in kept}


@pytest.mark.parametrize(
    "name",
    ["../run.json", "/etc/run.json", "a/../../x", "C:\\x", "C:x", "a\\run.json", "//x/y"],
)
def test_names_that_lead_elsewhere(tmp_path, name):
    with pytest.raises(KgdashError, match="leads out of the folder"):
        unpack_run(packed(WHOLE | {name: b"x"}), "a.zip", tmp_path / "out")
    assert files_below(tmp_path) == {}


def link_mode(kind: int) -> int:
    return (kind | 0o777) << 16


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a zip file"),
        (b"PK\3\4 and no more", "is not a zip file"),
        (packed({}), r"expected one run in a.zip: .*found 0 \(nothing\)"),
        (packed({"a.txt": b"x"}), r"found 0 \(a.txt\)"),
        (packed({"a/run.json": b"", "b/run.json": b""}), r"found 2 \(a, b\)"),
        (packed({"run.json": b"", "b/run.json": b""}), r"found 2 \(., b\)"),
        (packed({"run.json": b"", "./run.json": b""}), "holds 'run.json' twice"),
        (packed(WHOLE, external_attr=link_mode(stat.S_IFLNK)), "is a link or no file"),
        (packed(WHOLE, external_attr=link_mode(stat.S_IFIFO)), "is a link or no file"),
        (packed(WHOLE, compression=zipfile.ZIP_LZMA), "packed in an unusual way"),
        (packed(WHOLE, compression=zipfile.ZIP_BZIP2), "packed in an unusual way"),
        (packed(WHOLE | {"weights.safetensors": bytes(2**21)}), "unpacks to over 200 times"),
        (packed(WHOLE | {"triples.safetensors": listing(20_000)}), "triples.* has a header of 1,"),
        (packed(WHOLE | {f"x{i}": b"" for i in range(300)}), "holds more than 256 files"),
        (packed(WHOLE)[:-30] + packed(WHOLE)[-22:], "is not a whole zip file"),
    ],
)
def test_refusals(tmp_path, content, message):
    with pytest.raises(KgdashError, match=message):
        unpack_run(content, "a.zip", tmp_path / "out")


def altered(entry: int, value: bytes, central: bool = True) -> bytes:
    """Change bytes of the first entry's record: in the directory at the end, or before the file."""
    content = bytearray(packed(WHOLE))
    at = content.index(b"PK\1\2") if central else 0
    content[at + entry : at + entry + len(value)] = value
    return bytes(content)


def test_an_entry_that_is_not_what_it_says(tmp_path):
    for content, message in [
        (altered(8, b"\1\0"), "is encrypted"),
        (altered(16, b"1234"), "is not a whole zip file: Bad CRC-32"),
        (altered(24, struct.pack("<I", 3)), "is not a whole zip file: Bad CRC-32"),
        (altered(24, struct.pack("<I", 2**32 - 2)), "unpacks to over 200 times"),
        (altered(0, b"XXXX", central=False), "is not a whole zip file"),
    ]:
        with pytest.raises(KgdashError, match=message):
            unpack_run(content, "a.zip", tmp_path / "out")


def test_limits_of_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(zipped_run, "MOST_UNPACKED", sum(map(len, WHOLE.values())) - 1)
    with pytest.raises(KgdashError, match="would unpack to more than 0 KiB"):
        unpack_run(packed(WHOLE), "a.zip", tmp_path / "out")
    monkeypatch.setattr(zipped_run, "MOST_MIB", 0)
    with pytest.raises(KgdashError, match="is larger than 0 MiB"):
        unpack_run(packed(WHOLE), "a.zip", tmp_path / "out")
    assert files_below(tmp_path) == {}


def test_json_takes_many_times_its_size_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(zipped_run, "MOST_JSON", 2**20 - 1)
    files = WHOLE | {"weights.safetensors": b"x" * 2**20}
    unpack_run(packed(files), "a.zip", tmp_path / "out")
    files["graph.json"] = b"[" + b"[]," * (2**20 // 3)
    with pytest.raises(KgdashError, match=r"graph.json in a.zip is larger than 1023 KiB; name its"):
        unpack_run(packed(files), "a.zip", tmp_path / "more")


def test_what_is_recorded_of_a_run_stays_in_memory_with_it(tmp_path):
    files = WHOLE | {
        "weights.safetensors": b"x" * 2**20,
        "run.json": random.Random(0).randbytes(2**22 + 1),
    }
    with pytest.raises(KgdashError, match=r"run.json in a.zip is larger than 4 MiB; name its"):
        unpack_run(packed(files), "a.zip", tmp_path / "out")


def test_a_zip_for_more_than_4_gib_is_not_asked_how_large_its_directory_is(tmp_path):
    content = packed(WHOLE)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    with pytest.raises(KgdashError, match="more than 4 GiB"):
        unpack_run(content[:-22] + locator + content[-22:], "a.zip", tmp_path / "out")


def test_an_offset_beyond_all_files_is_no_traceback(tmp_path):
    content = packed(WHOLE)
    end, size = content[-22:], int.from_bytes(content[-10:-6], "little")
    directory = content[-22 - size : -22]
    length = 46 + int.from_bytes(directory[28:30], "little")
    extra = struct.pack("<HHQ", 1, 8, 2**63)
    first = directory[:30] + struct.pack("<H", len(extra)) + directory[32:42] + b"\xff" * 4
    first += directory[46:length] + extra + directory[length:]
    end = end[:12] + struct.pack("<I", size + len(extra)) + end[16:]
    with pytest.raises(KgdashError, match="is not a whole zip file"):
        unpack_run(content[: -22 - size] + first[:42] + first[42:] + end, "a.zip", tmp_path / "out")


NAMES = st.sampled_from(FILES) | st.text(alphabet="ab./\\:-\0é", min_size=1, max_size=8)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(
    files=st.dictionaries(st.tuples(st.sampled_from(["", "a/", "../", "/"]), NAMES), st.binary()),
    where=st.integers(0, 2**16),
    change=st.binary(max_size=4),
)
def test_whatever_it_holds_nothing_but_a_runs_files_is_ever_written(files, where, change):
    content = bytearray(packed({root + name: body for (root, name), body in files.items()}))
    at = where % len(content)
    content[at : at + len(change)] = change
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "inside" / "out"
        with contextlib.suppress(KgdashError):
            unpack_run(bytes(content), "a.zip", out)
        allowed = {f"inside/out/{name}" for name in (*FILES, *zipped_run._PYKEEN_FILES)}
        assert set(files_below(Path(folder))) <= allowed


def test_weights_that_pack_far_better_than_weights_do(tmp_path, monkeypatch):
    """Five megabytes of zeros would be a gigabyte on the disk, and in the server's memory."""
    content = packed(WHOLE | {"weights.safetensors": bytes(900_000)})
    monkeypatch.setattr(zipped_run, "FREE_UNPACKED", 2**17)
    with pytest.raises(KgdashError, match="would unpack to more than 128 KiB"):
        unpack_run(content, "a.zip", tmp_path / "out")
    monkeypatch.setattr(zipped_run, "FREE_UNPACKED", 2**20)
    assert unpack_run(content, "a.zip", tmp_path / "out").is_dir()
