"""Folders that were opened lately."""

import pytest

from kgdash.files.user_data import data_folder
from kgdash.runs.recent import note_opened, recent_folders


def test_latest_first_each_once_and_few(tmp_path, monkeypatch):
    folders = [tmp_path / f"run {i}" for i in range(8)]
    for folder in folders:
        folder.mkdir()
        note_opened(str(folder))
    note_opened(str(folders[4]), "umls")
    expected = [(str(folders[4]), "umls")] + [(str(folders[i]), "") for i in (7, 6, 5, 3, 2)]
    assert recent_folders() == expected
    folders[7].rmdir()
    assert recent_folders() == [expected[0], *expected[2:]]
    monkeypatch.chdir(folders[1])
    note_opened(".")
    assert recent_folders()[0] == (str(folders[1]), "")


def test_a_lock_of_a_process_that_died_goes_though_nothing_is_written(tmp_path):
    note_opened(str(tmp_path))
    lock = data_folder() / "recent-runs.lock"
    lock.touch()
    note_opened(str(tmp_path))
    assert not lock.exists()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"[]", b'{"folders": 3}', b" " * 2**20 + b'{"folders": [["/", ""]]}'),
        b'{"folders": [3, ["x"], ["/", 1], ["\\u0000", ""]]}',
        b'{"folders": [["' + b"x" * 5_000 + b'", ""]]}',
    ],
)
def test_what_can_not_be_read_is_no_list_and_is_mended(tmp_path, content):
    data_folder().mkdir(exist_ok=True)
    (data_folder() / "recent-runs.json").write_bytes(content)
    assert recent_folders() == []
    note_opened(str(tmp_path))
    assert recent_folders() == [(str(tmp_path), "")]


def test_where_nothing_can_be_written_nothing_happens(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path / "file" / "data"))
    note_opened(str(tmp_path))
    assert recent_folders() == []
