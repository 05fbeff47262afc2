"""A run that is removed while a page of it stands, here or in another tab: one message each."""

import shutil

import pytest

from kgdash.runs.bundled import DEMO
from kgdash.runs.library import keep_run, remove_run, runs_folder
from kgdash.ui.inspection import deeper
from kgdash.ui.runtime.navigation import MENU
from tests.pages.driver import assert_refused, choose, choose_folder, open_page, run, table
from tests.support.tiny_runs import altered_run

GONE = (
    "There is no run 'mine' here: it was removed or renamed, or is another machine's. Choose a run "
    "in the sidebar."
)


@pytest.fixture
def mine():
    return keep_run(lambda out: shutil.copytree(DEMO / "umls-rotate", out), "mine")


def errors(app) -> list[str]:
    return [error.value for error in app.error]


def captions(app) -> list[str]:
    return [caption.value.replace("\\", "") for caption in app.caption]


def test_every_page_says_so_once_and_offers_another_run(mine):
    app = open_page("metric_guide", run="mine")
    assert not errors(app)
    remove_run("mine")
    for page in (page for pages in MENU.values() for page in pages):
        assert_refused(run(app.switch_page(f"pages/{page}.py")), GONE)
    app.switch_page("pages/metric_guide.py")
    app.get_by_key("open_another").click()
    run(app)
    assert not errors(app)
    assert app.get_by_key("run").value == "umls-transe"
    assert app.title


def test_a_folder_that_is_gone_or_lost_a_file(tmp_path):
    folder = altered_run(tmp_path / "lately")
    app = choose_folder(open_page("metric_guide"), folder)
    assert not errors(app)
    (folder / "weights.safetensors").unlink()
    run(app)
    assert len(errors(app)) == 1
    assert "weights.safetensors" in errors(app)[0]
    shutil.rmtree(folder)
    assert_refused(run(app), f"There is no folder {folder}.")
    app.get_by_key("open_another").click()
    assert not errors(run(app))


@pytest.mark.parametrize(
    "odd", ["../umls-transe", "umls-transe/", ".", "", "\0", "x" * 5000, "![x](http://a.b)", "²"]
)
def test_addresses_that_name_no_run(odd):
    app = open_page("metric_guide", run=odd)
    assert len(errors(app)) == 1
    assert [title.value for title in app.title] == ["No run is open"]


def test_a_compared_run_that_is_gone(mine):
    app = open_page("compare", **{"with": "mine"})
    assert not errors(app)
    assert app.get_by_key("with").value == ["mine"]
    remove_run("mine")
    run(app)
    assert len(errors(app)) <= 1
    assert "mine" not in app.get_by_key("with").value


def test_a_run_of_the_same_graph_that_is_gone_is_no_obstacle_to_inspecting(mine, monkeypatch):
    monkeypatch.setattr(deeper, "_RUNS", 12)
    triple = {"head": "virus", "relation": "causes", "tail": "disease_or_syndrome"}
    app = open_page("inspect", **triple)
    choose(app, look_at="Other runs")
    assert "mine" in table(app, "run", "relik")["run"].tolist()
    remove_run("mine")
    assert "mine" not in table(run(app), "run", "relik")["run"].tolist()
    keep_run(lambda out: shutil.copytree(DEMO / "umls-pairre", out), "new")
    assert "new" in table(run(app), "run", "relik")["run"].tolist()
    # One that goes, or breaks, just when it is looked for.
    (runs_folder() / "new" / "weights.safetensors").write_bytes(b"")
    run(app)
    assert not errors(app)
    assert any("weights.safetensors" in text for text in captions(app))
