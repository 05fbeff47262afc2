"""Records of trainings from strangers: refused on load, never met on a page."""

import json
import math
import shutil

import pytest

from kgdash.errors import KgdashError
from kgdash.formats.run_record import check_record
from kgdash.runs.bundled import DEMO, FOLDER_CHOICE
from kgdash.runs.loading import load
from tests.pages.driver import open_page
from tests.support.cli import run_cli

MRR = "inverse_harmonic_mean_rank"

ODD = {
    "losses": [3, "12", {}, [1, "2"], [None], [True], [10**400]],
    "evaluation": [[1, 2], "good", {MRR: math.inf}, {MRR: "1"}, {MRR: 10**400}, {MRR: None}],
    "pykeen_evaluation": [[0.5], {MRR: math.nan}],
    "model_kwargs": [[1], 3],
    "epochs": [{"a": 1}, "100", 1.5, 10**400],
    "random_seed": [[], "x", 10**400],
}
CASES = [(part, value) for part, values in ODD.items() for value in values]


def damaged(folder, **training):
    """Copy a bundled run and put other values into its record."""
    shutil.copytree(DEMO / "umls-transe", folder, ignore=shutil.ignore_patterns("tables"))
    manifest = json.loads((folder / "run.json").read_text())
    manifest["training"] |= training
    (folder / "run.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize(("part", "value"), CASES)
def test_a_part_that_is_not_what_it_should_be(part, value):
    with pytest.raises(KgdashError, match=rf"^run\.json: training\.{part}: expected .*; found"):
        check_record({part: value}, "run.json")


@pytest.mark.parametrize("part", ODD)
def test_it_is_refused_on_load(tmp_path, part):
    folder = damaged(tmp_path / "run", **{part: ODD[part][-1]})
    with pytest.raises(KgdashError, match=rf"run\.json: training\.{part}: .*Copy the run again"):
        load(folder)


def test_what_trainings_and_others_write():
    check_record({}, "run.json")
    check_record({"losses": [], "evaluation": {}, "pykeen_evaluation": None}, "run.json")
    losses = [2, 1.5, math.inf, math.nan]
    check_record({"losses": losses, "random_seed": 0, "epochs": 4, "model_kwargs": {}}, "run.json")


@pytest.mark.parametrize("part", ["evaluation", "losses"])
def test_command_and_page_say_so(tmp_path, monkeypatch, capsys, part):
    folder = damaged(tmp_path / "run", **{part: ODD[part][0]})
    code, _, err = run_cli(monkeypatch, capsys, ["metrics", folder])
    assert code == 2
    assert f"run.json: training.{part}: expected" in err
    app = open_page("overview", run=FOLDER_CHOICE, folder=str(folder))
    assert len(app.error) == 1
    assert part in app.error[0].value.replace("\\", "")
