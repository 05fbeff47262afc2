"""Hostile archives of models: cut, changed, packed, overlapping, or of something else."""

import pickle
import struct
import zipfile

import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.pickle_records import Global
from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.formats.torch_archive import _storage
from tests.support.pickled_models import archive, make, refusal, repack


@pytest.mark.parametrize("part", range(40))
def test_files_cut_short_are_refused(part, transe, tmp_path):
    data = transe.read_bytes()
    path = tmp_path / "m.pkl"
    path.write_bytes(data[: part * len(data) // 40 + part % 7])
    refusal(path)


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bytes_are_refused_or_harmless(seed, transe, tmp_path):
    data = bytearray(transe.read_bytes())
    for i in range(5):
        data[(seed * 7919 + i * 104_729) % len(data)] ^= 1 << (seed % 8)
    path = tmp_path / "m.pkl"
    path.write_bytes(data)
    try:
        found = read_pickled_model(path)
    except KgdashError:
        return
    whole = read_pickled_model(transe).state
    assert all(torch.equal(found.state[name], whole[name]) for name in whole)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"head\trelation\ttail\n", "not an archive of torch"),
        (pickle.dumps({"a": 1}), "a plain pickle"),
        (b"PK\x03\x04 and nothing more", "damaged or cut short"),
        (b"\x1f\x8b\x08\x00", "not an archive of torch"),
    ],
)
def test_other_files(content, message, tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(content)
    assert message in refusal(path)


def test_old_format_of_torch(tmp_path):
    path = tmp_path / "m.pkl"
    torch.save(make("TransE"), path, _use_new_zipfile_serialization=False)
    assert "before 1.6" in refusal(path)


def test_missing_file_and_directory(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere.pkl")
    assert "cannot be read" in refusal(tmp_path)


def test_foreign_and_odd_archives(transe, tmp_path):
    path = tmp_path / "m.pkl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/document.xml", "<a/>")
    assert "not one of torch" in refusal(path)
    for name in ("../evil", "/etc/passwd", "m/../../evil", "m\\evil", "evil"):
        assert "odd name" in refusal(archive(path, b"\x80\x02N.", **{name: b""}))
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(path, b"\x80\x02N.", **{"m/data.pkl": b""})
    assert "odd name" in refusal(path)
    repack(transe, path, lambda *entry: entry, zipfile.ZIP_DEFLATED)
    assert "compressed" in refusal(path)
    repack(transe, path, lambda n, d: (n, b"big" if n.endswith("byteorder") else d))
    assert "big-endian" in refusal(path)
    repack(transe, path, lambda n, d: ("" if n.endswith("data/0") else n, d))
    assert "found nothing" in refusal(path)
    # Torch looks for names of any case, and runs what is beside constants.
    for name in ("transe/DATA/0", "transe/ByteOrder", "transe/constants.pkl"):
        root = zipfile.ZipFile(transe).namelist()[0].partition("/")[0]
        repack(transe, path, lambda *entry: entry)
        with zipfile.ZipFile(path, "a") as file:
            file.writestr(name.replace("transe", root), b"")
        assert "odd name" in refusal(path)


@pytest.mark.parametrize("name", ["data/0\u00e9", "data/\u0661", "data/0.1", "data/", "extra/0"])
def test_names_of_entries_are_those_that_torch_writes(transe, tmp_path, name):
    """One read bytes of another entry than torch, which knows of no code page."""
    path = tmp_path / "m.pkl"
    repack(transe, path, lambda found, data: (found.replace("data/0", name), data))
    assert "odd name" in refusal(path)
    root = zipfile.ZipFile(transe).namelist()[0].partition("/")[0]
    repack(transe, path, lambda found, data: (found.replace(root, "\u00e9", 1), data))
    assert "odd name" in refusal(path)


def test_a_listing_that_torch_does_not_read_is_refused(tmp_path):
    """Torch looks where the file says that it is, Python before the end: they read two models."""
    parts = []
    for number in range(2):
        pickled = b"\x80\x02K" + bytes([number]) + b"."
        path = archive(tmp_path / f"{number}.pkl", pickled, **{"m/version": b"3"})
        data = path.read_bytes()
        (place,) = struct.unpack("<I", data[-6:-2])
        parts.append((data[:place], data[place:-22], data[-22:]))
    first, second = parts
    path.write_bytes(first[0] + first[1] + second[0] + second[1] + first[2])
    assert torch.load(path, weights_only=False) == 0
    assert "its list of files is not where it says" in refusal(path)
    path.write_bytes(first[0] + first[1] + first[2][:-2] + b"\2\0ab")
    assert "its list of files is not where it says" in refusal(path)


def test_a_storage_of_two_types_is_refused(tmp_path):
    """Torch takes the first for both."""
    path = tmp_path / "m.pkl"
    torch.save([torch.zeros(2), torch.ones(2, dtype=torch.int32)], path)

    def both(name, data):
        return (name, data.replace(b"X\1\0\0\0" + b"1", b"X\1\0\0\0" + b"0"))

    repack(path, tmp_path / "two.pkl", both)
    assert "storage 0 is of two types" in refusal(tmp_path / "two.pkl")


def test_a_long_listing_is_refused_before_it_is_read(tmp_path):
    # Of 1.4 million files it took 11 seconds.
    path = tmp_path / "m.pkl"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20):
            archive.writestr(f"a/{number}" + "x" * 60_000, b"")
    with pytest.raises(KgdashError, match=r"lists its files in 1,\d+,\d+ bytes; expected at most"):
        read_pickled_model(path)


def test_entries_that_overlap_are_refused(transe, tmp_path):
    data = transe.read_bytes()
    with zipfile.ZipFile(transe) as file:
        claims = [entry for entry in file.infolist() if entry.filename.endswith("/data/1")]
    size = claims[0].file_size.to_bytes(4, "little")
    start = data.rindex(b"PK\x01\x02", 0, data.rindex(b"/data/1"))
    record = data[start:].replace(size, (1 << 30).to_bytes(4, "little"))
    path = tmp_path / "m.pkl"
    path.write_bytes(data[:start] + record)
    assert "claim more bytes" in refusal(path)


def test_keys_of_storages_are_short(tmp_path):
    """One of 65,000 digits, said 327,000 times by a few bytes each, took minutes."""
    with pytest.raises(KgdashError, match="cannot read the storage"):
        _storage(("storage", Global("torch.FloatStorage"), "1" * 101, "cpu", 1), tmp_path)
    assert _storage(("storage", Global("torch.FloatStorage"), "1" * 100, "cpu", 1), tmp_path).numel
