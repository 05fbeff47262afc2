"""The page Runs, where one's own are added, renamed and removed; the choice in the sidebar."""

import gzip
import io
import json
import os
import pickle
import shutil
import zipfile

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.runs.bundled import DEMO, FOLDER_CHOICE, bundled_names
from kgdash.runs.library import keep_run, list_runs, own_names, remove_run, rename_run, runs_folder
from kgdash.statistics.estimate import number
from tests.pages.driver import (
    assert_refused,
    choose,
    choose_folder,
    messages,
    open_page,
    run,
    table,
)


def demo(out):
    shutil.copytree(DEMO / "umls-rotate", out)


def press(app: AppTest, label: str, number: int = 0) -> AppTest:
    [button for button in app.button if button.label == label][number].click()
    return run(app)


def upload(app: AppTest, content: bytes, name: str = "mine.zip") -> AppTest:
    app.get_by_key("added_zip").set_value((name, content, "application/zip"))
    return press(app, "Add", 1)


def zipped(**others: bytes) -> bytes:
    """Pack a bundled run, or files of our own under names whose dots are written as __."""
    files = {name.replace("__", "."): content for name, content in others.items()}
    files = files or {f"pairre/{p.name}": p.read_bytes() for p in (DEMO / "umls-pairre").iterdir()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Touch:
    """Unpickled, it would make a file."""

    def __reduce__(self):
        return os.mknod, ("was-run",)


def errors(app: AppTest) -> list[str]:
    return [error.value for error in app.error]


def listed(app: AppTest) -> list[str]:
    return table(app, "run", "model", "graph", "mrr")["run"].tolist()


def test_all_runs_with_what_is_recorded_of_them(tmp_path):
    folder = tmp_path / "lately"
    demo(folder)
    choose_folder(open_page("overview"), folder)
    keep_run(demo, "mine")
    shown = table(open_page("runs"), "run", "model", "graph", "mrr", "folder")
    assert shown["run"].tolist() == ["mine", "lately", *bundled_names()]
    assert shown["kind"].tolist() == ["yours", "opened lately"] + ["bundled"] * len(bundled_names())
    assert shown["folder"][1] == str(folder)
    rows = {row["name"]: row for row in list_runs()}
    for _, row in shown.drop(index=1).iterrows():
        recorded = rows[row["run"]]
        for column in ("model", "graph", "mrr", "hits_at_10"):
            assert row[column] == recorded[column]


def test_the_choice_says_of_each_run_what_it_is(tmp_path):
    demo(tmp_path / "lately")
    app = choose_folder(open_page("overview"), tmp_path / "lately")
    keep_run(demo, "mine")
    options = run(app).get_by_key("run_choice").options
    assert options[0] == "mine · MRR 0.846 · RotatE on umls"
    assert "umls-transe · MRR 0.754 · TransE on umls" in options
    assert options[-2] == f"lately · MRR 0.846 · RotatE on umls · {tmp_path / 'lately'}"
    assert options[-1] == FOLDER_CHOICE
    choose(app, run_choice="mine")
    assert app.get_by_key("run").value == "mine"
    assert app.sidebar.caption[0].value.startswith("**RotatE** on **umls**")
    choose(app, run_choice=str(tmp_path / "lately"))
    assert app.get_by_key("run").value == FOLDER_CHOICE
    assert app.get_by_key("folder").value == str(tmp_path / "lately")


def test_add_a_folder(tmp_path):
    folder = tmp_path / "mine"
    demo(folder)
    app = press(open_page("runs"), "Add")
    assert errors(app) == ["Choose what to add first."]
    app = press(choose(app, added_folder=f" {folder} "), "Add")
    assert app.success[0].value == "Added mine: click it to open it."
    assert listed(app)[0] == "mine"
    app = press(choose(app, folder_name="mine"), "Add")
    assert errors(app) == ["there is a run mine already; choose another name"]
    app = press(choose(app, added_folder="/nope/nothing"), "Add")
    assert errors(app) == ["There is no folder /nope/nothing."]
    assert own_names() == ["mine"]


def test_add_a_pykeen_directory_and_then_open_it(pykeen_directory):
    app = press(choose(open_page("runs"), added_folder=str(pykeen_directory)), "Add")
    assert len(errors(app)) == 1
    assert "give the dataset" in errors(app)[0]
    app = press(choose(app, folder_dataset="nations", folder_name="tiny one"), "Add")
    by = table(app, "run", "mrr", "evaluated by").set_index("run")["evaluated by"]
    assert by["tiny one"] == "PyKEEN"
    assert set(by[bundled_names()]) == {"kgdash"}
    mrr = json.loads((pykeen_directory / "results.json").read_text())["metrics"]["both"]
    shown = number(mrr["realistic"]["inverse_harmonic_mean_rank"])
    named = f"tiny one · MRR {shown} (PyKEEN's) · TransE on nations"
    assert named in app.get_by_key("run_choice").options
    opened = open_page("overview", run="tiny one")
    assert "14 entities" in opened.sidebar.caption[0].value


def test_add_a_zip_file():
    app = upload(open_page("runs"), zipped())
    assert not errors(app)
    assert listed(app)[0] == "mine"
    assert sorted(path.name for path in (runs_folder() / "mine").iterdir()) == sorted(
        path.name for path in (DEMO / "umls-pairre").iterdir()
    )
    assert "PairRE" in open_page("overview", run="mine").sidebar.caption[0].value


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"GIF89a", "mine.zip is not a zip file; pack the folder of a run as one"),
        (zipped()[:-200] + zipped()[-22:], "mine.zip is not a whole zip file"),
        (zipped().replace(b"pairre/", b"../../x"), "leads out of the folder"),
        (zipped(trained_model__pkl=pickle.dumps(Touch())), "trained_model.pkl"),
        (zipped(weights__safetensors=bytes(2**26)), "unpacks to over 200 times its size"),
        (zipped(run__json=b'{"format": "kgdash-run"'), "mine.zip/run.json"),
        (zipped(run__zip=zipped()), "expected one run in mine.zip"),
        (gzip.compress(zipped()), "mine.zip is not a zip file"),
    ],
)
def test_uploads_that_are_not_what_they_say(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    app = choose(open_page("runs"), zip_dataset="nations" if b".pkl" in content else "")
    app = upload(app, content)
    assert os.listdir(tmp_path) == []
    assert len(errors(app)) == 1
    assert message in errors(app)[0]
    assert own_names() == []
    assert not list(runs_folder().iterdir())


def test_renaming_the_open_run_keeps_it_open():
    keep_run(demo, "mine")
    app = press(open_page("runs", run="mine"), "Rename …")
    app.get_by_key("new name of mine").set_value("umls-transe")
    press(app, "Rename")
    assert errors(app) == ["umls-transe is the name of a bundled run; choose another one"]
    press(app, "Rename …")
    app.get_by_key("new name of mine").set_value("better")
    press(app, "Rename")
    assert app.success[0].value == "mine is now better."
    assert app.get_by_key("run").value == "better"
    assert own_names() == ["better"]


def test_removing_asks_first_and_leaves_the_open_run():
    keep_run(demo, "mine")
    app = press(open_page("runs", run="mine"), "Remove …")
    press(app, "Cancel")
    assert own_names() == ["mine"]
    press(press(app, "Remove …"), "Delete")
    assert app.success[0].value == "Removed mine."
    assert own_names() == []
    assert app.get_by_key("run").value == "umls-transe"
    assert listed(app) == bundled_names()
    assert "There is none of yours yet." in "".join(caption.value for caption in app.caption)


def test_two_tabs_that_remove_the_same_run():
    keep_run(demo, "mine")
    keep_run(demo, "other")
    tabs = [press(open_page("runs"), "Remove …") for _ in range(2)]
    for tab in tabs:
        press(tab, "Delete")
    assert tabs[0].success[0].value == "Removed mine."
    assert len(errors(tabs[1])) == 1
    assert "unknown run 'mine' in your runs" in errors(tabs[1])[0]
    assert own_names() == ["other"]


def test_a_run_that_vanishes_while_it_is_open():
    keep_run(demo, "mine")
    app = open_page("overview", run="mine")
    assert not errors(app)
    remove_run("mine")
    assert_refused(
        run(app),
        "There is no run 'mine' here: it was removed or renamed, or is another machine's. Choose "
        "a run in the sidebar.",
    )
    keep_run(demo, "third")
    rename_run("third", "mine")
    assert not errors(run(app))
    assert messages(app) == []


def test_the_page_opens_whatever_the_chosen_run_is():
    app = open_page("runs", run="no-such-run")
    assert not errors(app)
    assert listed(app) == bundled_names()
