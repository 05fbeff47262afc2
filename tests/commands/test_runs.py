"""The commands runs and import."""

import shutil

import pytest

from kgdash.runs.bundled import DEMO, bundled_names
from kgdash.runs.library import keep_run, list_runs, own_names, runs_folder
from tests.support.cli import strict_json


def test_import_without_a_place_and_the_run_by_its_name(call, pykeen_directory):
    printed = call("import", pykeen_directory, "--dataset", "nations")
    assert printed == f"wrote {runs_folder() / 'nations-transe'}; its name is nations-transe\n"
    rows = strict_json(call("runs", "--json"))["runs"]
    assert rows == list_runs()
    assert [row["name"] for row in rows] == ["nations-transe", *bundled_names()]
    assert "nations-transe" in call("runs")
    assert [row["evaluated_by"] for row in rows] == ["PyKEEN"] + ["kgdash"] * (len(rows) - 1)
    assert strict_json(call("metrics", "nations-transe", "--json"))["run"] == "nations-transe"


def test_import_to_a_place(call, pykeen_directory, tmp_path):
    printed = call("import", pykeen_directory, tmp_path / "out", "--dataset", "nations")
    assert printed == f"wrote {tmp_path / 'out'}\n"
    assert own_names() == []


def test_what_is_refused_leaves_nothing(refused, tmp_path):
    assert "is not a PyKEEN directory" in refused("import", tmp_path)
    assert list(runs_folder().iterdir()) == []


def demo(out):
    shutil.copytree(DEMO / "umls-rotate", out)


def test_rename_and_remove(call):
    keep_run(demo, "mine")
    (runs_folder() / "mine" / "groupings.json").write_text("{}")
    assert call("runs", "rename", "mine", "my best") == "mine is now my best\n"
    assert own_names() == ["my best"]
    assert (runs_folder() / "my best" / "groupings.json").read_text() == "{}"
    assert call("runs", "remove", "my best") == "removed my best\n"
    assert (own_names(), list(runs_folder().iterdir())) == ([], [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rename", "nope", "x"), "unknown run 'nope' in your runs"),
        (("rename", "mine", "../x"), "expected a name of letters"),
        (("rename", "mine", "umls-transe"), "umls-transe is the name of a bundled run"),
        (("rename", "mine", "other"), "there is a run other already"),
        (("rename", "umls-transe", "x"), "umls-transe is a bundled run"),
        (("remove", "umls-transe"), "umls-transe is a bundled run"),
        (("remove", "min"), "unknown run 'min' in your runs"),
    ],
)
def test_what_can_not_be_renamed_or_removed(refused, arguments, message):
    keep_run(demo, "mine")
    keep_run(demo, "other")
    assert message in refused("runs", *arguments)
    assert own_names() == ["mine", "other"]


def test_runs(call):
    assert [row["name"] for row in strict_json(call("runs", "--json"))["runs"]] == bundled_names()
    assert all(name in call("runs") for name in bundled_names())
