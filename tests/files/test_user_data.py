"""Where a user's own things are kept."""

from pathlib import Path

import pytest
from platformdirs import user_data_path

from kgdash.errors import KgdashError
from kgdash.files.user_data import data_folder, own_folder


def test_the_environment_moves_it(monkeypatch, tmp_path):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("KGDASH_DATA", "")
    assert data_folder() == Path(user_data_path("kgdash"))


def test_each_visitor_has_a_folder_of_their_own(as_visitor):
    assert own_folder() == data_folder()
    as_visitor(folder="a1")
    assert own_folder() == data_folder() / "visitors" / "a1"
    as_visitor(folder=None)
    with pytest.raises(KgdashError, match="log in first"):
        own_folder()
