"""Files that the HDF5 library wrote, as old and as new as it writes them, and changed ones."""

import struct
import time

import h5py
import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.formats.hdf5 import open_hdf5

VALUES = np.random.default_rng(3).normal(size=(7, 5))
KINDS = {"<f2": np.float16, "<f4": np.float32, "<f8": np.float64}

#: what the library may write: as of HDF5 1.0, as of 1.8, and the newest that it knows
BOUNDS = ("earliest", "v108", "latest")


def read(path, name):
    with open_hdf5(path) as file:
        return file.array(name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_arrays_are_what_was_written(bound, kind, path):
    with h5py.File(path, "w", libver=(bound, "latest")) as file:
        file.attrs["config/json"] = "{}" * 500
        file.create_dataset("embeddings", data=VALUES.astype(kind))
        group = file.create_group("model", track_order=True)
        group.create_dataset("relations/0/operator/lhs/real", data=VALUES[0].astype(kind))
        file.create_dataset("optimizer/state", data=np.zeros(9, "V1"))
        file["model"].attrs["more"] = 1  # a header that goes on elsewhere
        file.create_dataset("empty", data=np.zeros((0, 5), kind))
    with open_hdf5(path) as file:
        found = file.array("embeddings")
        assert found.dtype == KINDS[kind]
        np.testing.assert_array_equal(found, VALUES.astype(kind))
        deep = file.array("model/relations/0/operator/lhs/real")
        np.testing.assert_array_equal(deep, VALUES[0].astype(kind))
        assert file.array("empty").shape == (0,)


@pytest.mark.parametrize("count", [9, 45, 300, 1_500])
@pytest.mark.parametrize("bound", BOUNDS)
def test_groups_of_many_members(bound, count, path):
    with h5py.File(path, "w", libver=(bound, "latest")) as file:
        group = file.create_group("a", track_order=count % 2 == 0)
        for number in range(count):
            group[f"member {number}"] = np.float32([number])
    with open_hdf5(path) as file:
        found = [file.array(f"a/member {number}")[0] for number in range(count)]
    assert found == list(range(count))


def test_a_heap_of_blocks_of_blocks(path):
    """Half a megabyte of links fills its rows of blocks."""
    with h5py.File(path, "w", libver="latest") as file:
        file["x"] = VALUES
        for number in range(4_000):
            file[f"a/{number:0200}"] = file["x"]
    with open_hdf5(path) as file:
        for number in (0, 2_600, 3_999):
            file.array(f"a/{number:0200}")


def elsewhere(file):
    file["a"] = h5py.ExternalLink("b.h5", "a")


def in_another_file(file):
    file.create_dataset("a", (2,), "<f4", external=[("/etc/passwd", 0, 8)])


def committed(file):
    file["kind"] = np.dtype("<f4")
    file.create_dataset("a", (2,), dtype=file["kind"])


REFUSED = {
    "soft link": (lambda f: f.update(a=h5py.SoftLink("/b")), "a: a link to elsewhere"),
    "external link": (elsewhere, "a: a link to elsewhere"),
    "external numbers": (in_another_file, "a: numbers in other files"),
    "chunks": (lambda f: f.create_dataset("a", data=VALUES, chunks=(2, 2)), "chunks or compress"),
    "gzip": (lambda f: f.create_dataset("a", data=VALUES, compression=9), "chunks or compression"),
    "whole numbers": (lambda f: f.create_dataset("a", data=np.arange(3)), "other than floats"),
    "most first": (lambda f: f.create_dataset("a", data=VALUES.astype(">f4")), "other than floats"),
    "text": (lambda f: f.create_dataset("a", data="abc"), "other than floats"),
    "objects": (lambda f: f.create_dataset("a", data=["x", "y"]), "other than floats"),
    "nothing": (lambda f: f.create_dataset("a", data=h5py.Empty("<f4")), "an array of up to 8"),
    "no numbers yet": (lambda f: f.create_dataset("a", (3,), "<f4"), "cut short or damaged: a"),
    "a shared type": (committed, "a: a type that is shared"),
    "a group": (lambda f: f.create_group("a"), "a is no array of numbers"),
    "another name": (lambda f: f.create_dataset("b", data=VALUES), "no a; it holds b"),
    "nothing in it": (lambda f: None, "no a; it holds nothing"),
}


@pytest.mark.parametrize("bound", BOUNDS[:2])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, bound, path):
    make, message = REFUSED[name]
    with h5py.File(path, "w", libver=(bound, "latest")) as file:
        make(file)
    with pytest.raises(KgdashError, match=message):
        read(path, "a")


def written(path, **arrays):
    with h5py.File(path, "w", libver=("earliest", "latest")) as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values)
    return bytearray(path.read_bytes())


def test_a_file_that_is_cut_short(path):
    """At any length there is a message, or the array as it was."""
    data = written(path, a=VALUES)
    for length in (*range(0, len(data) - 1, 37), len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(KgdashError, match=r"damaged|cut short|no HDF5 file|version|addresses"):
            read(path, "a")


def test_what_is_no_hdf5(path):
    path.write_bytes(b"PK\x03\x04" * 100)
    with pytest.raises(KgdashError, match="is no HDF5 file"):
        read(path, "a")
    with pytest.raises(KgdashError, match=r"can not read .*: No such file"):
        read(path.with_name("b.h5"), "a")


def test_a_shape_beyond_the_file_takes_no_memory(path):
    data = written(path, a=VALUES)
    place = data.index(struct.pack("<QQ", 7, 5))
    for rows in (8, 2**40, 2**63):
        data[place : place + 8] = struct.pack("<Q", rows)
        path.write_bytes(data)
        with pytest.raises(KgdashError, match="cut short or damaged: a, shape"):
            read(path, "a")


def test_arrays_that_share_their_numbers_are_not_multiplied(path):
    """Whatever their layouts say, no more is read than the file holds."""
    one = np.arange(10_000.0)
    data = written(path, a=one, b=one + 1)
    first, second = (data.index(values.tobytes()) for values in (one, one + 1))
    layouts = struct.pack("<QQ", second, one.nbytes), struct.pack("<QQ", first, one.nbytes)
    assert data.count(layouts[0]) == 1
    path.write_bytes(data.replace(*layouts)[: -one.nbytes])
    np.testing.assert_array_equal(read(path, "b"), one)
    with open_hdf5(path) as file:
        file.array("a")
        with pytest.raises(KgdashError, match="arrays that share their numbers"):
            file.array("b")


@pytest.mark.parametrize("kind", ["layout", "shape"])
def test_a_message_that_stands_twice(kind, path):
    """The library takes the first of each."""
    data = written(path, a=VALUES, b=VALUES + 1)
    first, second = (data.index(values.tobytes()) for values in (VALUES, VALUES + 1))
    end = data.index(struct.pack("<BBQQ", 3, 1, first, VALUES.nbytes)) + 24
    number, body = {
        "layout": (8, struct.pack("<BBQQ", 3, 1, second, VALUES.nbytes)),
        "shape": (1, struct.pack("<BBB5xQQ", 1, 2, 0, 5, 7)),
    }[kind]
    assert data[end : end + 2] == b"\0\0"  # a message of nothing, with room
    data[end] = number
    data[end + 8 : end + 8 + len(body)] = body
    path.write_bytes(data)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"], VALUES)
    with pytest.raises(KgdashError, match="refused: two messages of one kind"):
        read(path, "a")


def test_names_that_stand_twice(path):
    data = written(path, a=VALUES, b=VALUES + 1)
    table = data.index(b"SNOD") + 8
    data[table + 40 : table + 48] = data[table : table + 8]
    path.write_bytes(data)
    with pytest.raises(KgdashError, match="refused: two links of one name, 'a'"):
        read(path, "a")


@pytest.fixture
def linked(path):
    """Write a file whose links are messages."""
    with h5py.File(path, "w", libver="latest") as file:
        file["a"], file["a?"] = VALUES, VALUES + 1
    return bytearray(path.read_bytes())


def test_a_name_that_ends_before_its_end(linked, path):
    """The library takes it for the other."""
    path.write_bytes(linked.replace(b"a?", b"a\0"))
    with pytest.raises(KgdashError, match=r"refused: two links of one name, 'a\\x00'"):
        read(path, "a")


def test_links_in_two_forms(linked, path, monkeypatch):
    """The library reads those of the heap alone, and those of a table if there is no other form."""
    monkeypatch.setattr("kgdash.formats.hdf5.links_of_heap", lambda *place: [("b", 1)])
    assert linked.count(b"\xff" * 16) == 1
    path.write_bytes(linked.replace(b"\xff" * 16, b"\1" * 16))
    with pytest.raises(KgdashError, match="refused: a group of links in two forms"):
        read(path, "a")


def test_a_heap_whose_places_are_of_another_width(path):
    with h5py.File(path, "w", libver="latest") as file:
        for number in range(20):
            file[f"{number}"] = VALUES
    data = bytearray(path.read_bytes())
    place = data.index(b"FRHP") + 128
    assert data[place] == 32
    data[place] = 24
    path.write_bytes(data)
    with pytest.raises(KgdashError, match="damaged or cut short"):
        read(path, "3")


@pytest.mark.parametrize(("bound", "place"), [("earliest", 48), ("latest", 20)])
def test_a_superblock_that_goes_on(bound, place, path):
    """There an image of other parts of the file may be named, which the library reads instead."""
    with h5py.File(path, "w", libver=(bound, "latest")) as file:
        file["a"] = VALUES
    data = bytearray(path.read_bytes())
    data[place : place + 8] = struct.pack("<Q", 96)
    path.write_bytes(data)
    with pytest.raises(KgdashError, match="refused: a superblock that goes on elsewhere"):
        read(path, "a")


@pytest.mark.parametrize("mark", [b"TREE", b"SNOD", b"HEAP"])
def test_structures_that_are_others(mark, path):
    data = written(path, a=VALUES)
    path.write_bytes(data.replace(mark, b"NONE"))
    with pytest.raises(KgdashError, match="damaged or cut short"):
        read(path, "a")


def test_a_tree_in_a_circle(path):
    """Its root is named as its own child."""
    data = written(path, a=VALUES)
    tree = data.index(b"TREE")
    data[tree + 32 : tree + 40] = struct.pack("<Q", tree)
    path.write_bytes(data)
    with pytest.raises(KgdashError, match="damaged or cut short"):
        read(path, "a")


def test_a_header_that_goes_on_in_itself(path):
    with h5py.File(path, "w", libver=("earliest", "latest")) as file:
        file.create_dataset("a", data=VALUES)
        for number in range(40):
            file["a"].attrs[str(number)] = "x" * 50
    data = bytearray(path.read_bytes())
    place = data.index(b"\x10\0\x10\0\0\0\0\0") + 8
    own = struct.pack("<QQ", place - 8, 24)
    data[place : place + 16] = own
    path.write_bytes(data)
    with pytest.raises(KgdashError, match="damaged or cut short"):
        read(path, "a")


def test_a_header_in_many_pieces_takes_no_time(tmp_path):
    # Each of 400,000 pieces moved all others: 15 s for 10 MB, four times that for twice as many.
    pieces = struct.pack("<HHB3xQQ", 0x10, 16, 0, 0, 0) * 400_000
    place = 48
    start = b"\x89HDF\r\n\x1a\n\2\x08\x08\0" + struct.pack(
        "<QQQQ4x", 0, 2**64 - 1, place + 16 + len(pieces), place
    )
    header = struct.pack("<BxHII4x", 1, 0, 1, len(pieces))
    (tmp_path / "a.h5").write_bytes(start + header + pieces)
    begin = time.process_time()
    with pytest.raises(KgdashError, match="holds nothing"), open_hdf5(tmp_path / "a.h5") as file:
        file.array("a")
    assert time.process_time() - begin < 5
