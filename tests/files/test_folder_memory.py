"""What was read of folders is kept for all that are there, however many."""

import shutil

import pytest

from kgdash.errors import KgdashError
from kgdash.files import folder_memory
from kgdash.files.folder_memory import FolderMemory


@pytest.fixture
def read():
    return []


@pytest.fixture
def memory(read):
    def take(folder):
        read.append(folder.name)
        path = folder / "a.txt"
        return path.read_text() if path.is_file() else ""

    return FolderMemory(("a.txt", "b.txt"), take)


def filled(folder, text="x"):
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text(text)
    return folder


def test_a_folder_is_read_again_only_when_a_file_changes(memory, read, tmp_path):
    folder = filled(tmp_path / "one", "1")
    assert [memory.get(folder) for _ in range(3)] == ["1"] * 3
    filled(folder, "22")
    assert [memory.get(folder) for _ in range(3)] == ["22"] * 3
    (folder / "b.txt").write_text("")
    assert [memory.get(folder) for _ in range(3)] == ["22"] * 3
    assert read == ["one"] * 3


def test_more_folders_than_any_bound_are_read_once_each(memory, read, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_sweep_at", 4)
    monkeypatch.setattr(folder_memory, "_FEWEST", 4)
    folders = [filled(tmp_path / str(number)) for number in range(50)]
    for _ in range(3):
        assert {memory.get(folder) for folder in folders} == {"x"}
    assert len(read) == len(memory) == 50


def test_folders_that_are_gone_are_forgotten(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_sweep_at", 4)
    monkeypatch.setattr(folder_memory, "_FEWEST", 4)
    for number in range(50):
        memory.get(filled(tmp_path / str(number)))
        shutil.rmtree(tmp_path / str(number))
        assert len(memory) <= 4
    assert memory.get(tmp_path / "0") == ""
    assert memory.get(tmp_path / "\0") == ""


def test_a_refusal_is_not_kept(tmp_path):
    def refuse(folder):
        raise KgdashError("no")

    memory = FolderMemory(("a.txt",), refuse)
    with pytest.raises(KgdashError, match="no"):
        memory.get(filled(tmp_path / "one"))
    assert len(memory) == 0
