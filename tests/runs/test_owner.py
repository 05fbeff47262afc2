"""Who added a run is what the server wrote, not what was handed in."""

import os
import shutil

from kgdash.runs.adding import add_folder
from kgdash.runs.bundled import DEMO
from kgdash.runs.library import keep_run, rename_run, runs_folder
from kgdash.runs.owner import owner_of


def test_it_is_the_visitor_who_adds_it(tmp_path, as_visitor):
    assert owner_of(keep_run(lambda out: shutil.copytree(DEMO / "umls-transe", out), "here")) == ""
    source = tmp_path / "source"
    shutil.copytree(DEMO / "umls-transe", source)
    (source / "owner").write_text("bob")
    as_visitor(name="Ada", folder="ada")
    assert owner_of(add_folder(source, name="adas")) == "ada"
    rename_run("adas", "renamed")
    as_visitor(name="Bob", folder="bob", roots=(tmp_path,))
    assert owner_of(runs_folder() / "renamed") == "ada"


def test_what_is_no_such_file_names_nobody(tmp_path):
    os.mkfifo(tmp_path / "owner")
    assert owner_of(tmp_path) == owner_of(tmp_path / "none") == ""
