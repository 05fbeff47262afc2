"""Where a user's own things are kept."""

from pathlib import Path

from platformdirs import user_data_path

from kgdash.files.user_data import data_folder


def test_the_environment_moves_it(monkeypatch, tmp_path):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("KGDASH_DATA", "")
    assert data_folder() == Path(user_data_path("kgdash"))
