"""The commands runs and import."""

from kgdash.runs.bundled import bundled_names
from kgdash.runs.library import list_runs, own_names, runs_folder
from tests.support.cli import strict_json


def test_import_without_a_place_and_the_run_by_its_name(call, pykeen_directory):
    printed = call("import", pykeen_directory, "--dataset", "nations")
    assert printed == f"wrote {runs_folder() / 'nations-transe'}; its name is nations-transe\n"
    rows = strict_json(call("runs", "--json"))["runs"]
    assert rows == list_runs()
    assert [row["name"] for row in rows] == ["nations-transe", *bundled_names()]
    assert "nations-transe" in call("runs")
    assert strict_json(call("metrics", "nations-transe", "--json"))["run"] == "nations-transe"


def test_import_to_a_place(call, pykeen_directory, tmp_path):
    printed = call("import", pykeen_directory, tmp_path / "out", "--dataset", "nations")
    assert printed == f"wrote {tmp_path / 'out'}\n"
    assert own_names() == []


def test_what_is_refused_leaves_nothing(refused, tmp_path):
    assert "is not a PyKEEN directory" in refused("import", tmp_path)
    assert list(runs_folder().iterdir()) == []
