"""Safetensors from outside: what is read of them, and what is refused before it is."""

import os
import time

import pytest
import torch
from safetensors.torch import save_file

from kgdash.errors import KgdashError
from kgdash.formats.tensor_file import MOST_HEADER, open_tensors, read_tensors
from tests.support.tensor_files import listing

STATE = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4, dtype=torch.bfloat16)}


@pytest.fixture
def path(tmp_path):
    save_file(STATE, tmp_path / "x.safetensors", {"said": "so"})
    return tmp_path / "x.safetensors"


@pytest.mark.parametrize(("names", "found"), [(None, "ab"), (("b", "c"), "b"), ((), "")])
def test_tensors_by_name(path, names, found):
    tensors = read_tensors(path, names=names)
    assert sorted(tensors) == list(found)
    assert all(torch.equal(tensors[name], STATE[name]) for name in found)


def test_they_are_mapped(path):
    """Weights of gigabytes are read as they are needed."""
    tensor = read_tensors(path)["a"]
    with path.open("r+b") as file:
        at = path.read_bytes().index(STATE["a"].numpy().tobytes())
        file.seek(at)
        file.write(torch.full((1,), 7.0).numpy().tobytes())
    assert tensor[0, 0] == 7


def test_the_notes_beside_them(path):
    with open_tensors(path) as file:
        assert file.metadata() == {"said": "so"}


def test_as_many_as_any_model_has(path):
    path.write_bytes(listing(10_000))
    assert len(read_tensors(path)) == 10_000
    assert read_tensors(path, names=["7"])["7"].shape == (0,)


def test_a_million_empty_tensors(path):
    path.write_bytes(listing(10**6))
    start = time.thread_time()
    with pytest.raises(KgdashError, match=r"x.safetensors has a header of 5\d,.*write the file"):
        read_tensors(path, names=["7"])
    assert time.thread_time() - start < 1
    with pytest.raises(KgdashError, match="takes less than 100:"):
        open_tensors(path, most_header=100)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        bytes(8),
        b"\x80\x05pickle?",
        (MOST_HEADER + 1).to_bytes(8, "little") + b"{}",
        listing(2)[:-1],
        listing(1, "0,18446744073709551615"),
        b"\xff" * 20,
    ],
)
def test_what_is_no_whole_file(path, content):
    path.write_bytes(content)
    with pytest.raises(KgdashError, match=r"x.safetensors is not a whole .*; copy it again$"):
        read_tensors(path)


def test_what_can_not_be_read(path):
    with pytest.raises(KgdashError, match=r"can not read .*x.safetensors: it is larger than 0 KiB"):
        read_tensors(path, 10)
    path.unlink()
    with pytest.raises(KgdashError, match=r"can not read .*x.safetensors: No such file"):
        read_tensors(path)
    os.mkfifo(path)
    with pytest.raises(KgdashError, match=r"can not read .*x.safetensors: it is a pipe"):
        read_tensors(path)
