"""Pipes, devices and huge files are refused before they are opened, by every reader."""

import gzip
import os

import pytest

from kgdash.errors import KgdashError
from kgdash.files.regular import check_regular, file_digest, file_stamp, open_own, open_regular
from kgdash.files.roots import opened
from kgdash.files.text import read_content
from kgdash.formats.pykeen_model_file import read_pickled_model
from kgdash.graph.triple_files import read_rows
from kgdash.hpo.study_file import read_study
from kgdash.runs.description import describe_run
from kgdash.studies.obl2021.submission_reading import read_arrays

ZERO = "/dev/zero"


def test_files_and_folders_pass(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for path in (tmp_path, tmp_path / "file", tmp_path / "link"):
        check_regular(path)
    with pytest.raises(OSError, match="larger than 0 KiB"):
        check_regular(tmp_path / "link", most=2)
    with pytest.raises(FileNotFoundError):
        check_regular(tmp_path / "none")


@pytest.mark.parametrize("end", ["pipe", "device"])
def test_all_readers_refuse_what_never_ends(tmp_path, end):
    def make(name):
        path = tmp_path / name
        os.mkfifo(path) if end == "pipe" else path.symlink_to(ZERO)
        return path

    read = {
        "model.pkl": read_pickled_model,
        "queries.json": lambda path: read_content(path, str(path), 100),
        "triples.tsv": lambda path: list(read_rows(path)),
        "search.db": read_study,
        "array.npy": read_arrays,
    }
    for name, reader in read.items():
        with pytest.raises(KgdashError, match=rf"{name}.*it is a pipe, a device"):
            reader(make(name))
    make("run.json")
    assert describe_run("run", tmp_path)["model"] is None


@pytest.fixture
def swapped(tmp_path, as_visitor, monkeypatch):
    """Return what puts a link or a pipe in the place of something after it was looked at."""
    for name in ("root", "outside"):
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "data" / "train.tsv").write_text(f"{name}\n")
        with gzip.open(tmp_path / name / "data" / "train.tsv.gz", "wb") as packed:
            packed.write(name.encode())
    as_visitor(roots=(tmp_path / "root",))
    really = os.open

    def swap(place, put):
        def late(path, flags, *more, **named):
            if os.path.exists(place) and not (tmp_path / "away").exists():
                place.rename(tmp_path / "away")
                put(place)
            return really(path, flags, *more, **named)

        monkeypatch.setattr("kgdash.files.regular.os.open", late)

    return swap


@pytest.mark.parametrize("place", ["data", "data/{}"])
@pytest.mark.parametrize("name", ["train.tsv", "train.tsv.gz"])
@pytest.mark.parametrize(
    "read",
    [
        lambda path: list(read_rows(path)),
        lambda path: read_content(path, str(path), 100),
        file_digest,
        read_study,
    ],
)
def test_what_was_swapped_for_a_link_meanwhile_is_refused(swapped, tmp_path, place, name, read):
    place = place.format(name)
    path = opened(tmp_path / "root" / "data" / name)
    swapped(tmp_path / "root" / place, lambda at: at.symlink_to(tmp_path / "outside" / place))
    with pytest.raises((KgdashError, OSError), match="leads out of the folders") as refusal:
        read(path)
    assert (tmp_path / "root" / place).is_symlink()
    assert "outside" not in str(refusal.value)


def test_what_was_swapped_for_a_pipe_meanwhile_is_refused(swapped, tmp_path):
    path = tmp_path / "root" / "data" / "train.tsv"
    swapped(path, os.mkfifo)
    with pytest.raises(KgdashError, match="it is a pipe"):
        list(read_rows(path))


def test_links_within_the_roots_and_what_is_named_elsewhere_are_read(tmp_path, as_visitor):
    for name in ("root", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    (tmp_path / "root" / "link").symlink_to("file")
    as_visitor(roots=(tmp_path / "root",))
    for path, told in (("root/link", b"root"), ("outside/file", b"outside")):
        with open_regular(tmp_path / path) as stream:
            assert stream.read() == told
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path / "root")


def test_one_s_own_file_is_read_and_added_to(tmp_path):
    path = tmp_path / "own"
    with pytest.raises(FileNotFoundError):
        open_own(path)
    for text in (b"one", b"two"):
        with open_own(path, adding=True) as stream:
            stream.seek(0)
            stream.write(text)
    with open_own(path) as stream:
        assert stream.read() == b"onetwo"
    with pytest.raises(OSError, match="larger than 0 KiB"):
        open_own(path, most=5)


@pytest.mark.parametrize("adding", [False, True])
def test_what_may_be_another_s_is_none_of_one_s_own(tmp_path, adding):
    path, other = tmp_path / "own", tmp_path / "other"
    other.write_bytes(b"other")
    for lay in (path.symlink_to, path.hardlink_to):
        lay(other)
        with pytest.raises(OSError, match=r"it is a link.*put a copy in its place"):
            open_own(path, adding=adding)
        path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        open_own(path, adding=adding)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(OSError, match="it is a pipe"):
        open_own(path, adding=adding)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="root gives files away")
def test_another_account_s_file_is_none_of_one_s_own(tmp_path):
    path = tmp_path / "own"
    path.touch()
    os.chown(path, 12345, 12345)
    with pytest.raises(OSError, match="another account's"):
        open_own(path)


def test_the_digest_of_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    assert file_digest(tmp_path / "file").startswith("ba7816bf8f01cfea414140de5dae2223")
    with pytest.raises(OSError, match="larger than 0 KiB"):
        file_digest(tmp_path / "file", most=2)


def test_a_stamp_changes_where_bytes_and_times_do_not(tmp_path):
    """A run of equal sizes, whose times were set, was shown as the one before it."""
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_text("one")
    other.write_text("two")
    before = file_stamp(path)
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)
    assert file_stamp(path)[:2] == before[:2]
    assert file_stamp(path) != before
    assert file_stamp(tmp_path / "none") == ()
