"""Pipes, devices and huge files are refused before they are opened, by every reader."""

import os

import pytest

from kgdash.errors import KgdashError
from kgdash.files.regular import check_regular, file_digest
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
    with pytest.raises(OSError, match="larger than 0 MiB"):
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


def test_the_digest_of_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    assert file_digest(tmp_path / "file").startswith("ba7816bf8f01cfea414140de5dae2223")
    with pytest.raises(OSError, match="larger than 0 MiB"):
        file_digest(tmp_path / "file", most=2)
