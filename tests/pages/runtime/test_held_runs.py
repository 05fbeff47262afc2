"""Tabs hold no run: there may be one for each, and closed ones stay for a while."""

import gc
import shutil
import time

import optuna.visualization  # keeps the traceback, and so the page, of an import that fails in it
import pytest

from kgdash.runs import Run
from kgdash.runs.bundled import DEMO
from kgdash.runs.library import runs_folder
from kgdash.ui.runtime import loaded_runs
from kgdash.ui.runtime.result_cache import memory
from tests.pages.driver import open_page
from tests.pages.driver import run as rerun
from tests.support.paths import EXAMPLE, ROOT

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))

assert optuna.visualization


@pytest.fixture(autouse=True)
def _added():
    shutil.copytree(DEMO / "umls-transe", runs_folder() / "added")


def assert_is_gone():
    """Check that nothing holds the run but what is bounded; another page comes after it."""
    open_page("metric_guide", run="umls-transe")
    for kept in (memory, loaded_runs._load, loaded_runs._load_small):
        kept.clear()
    end = time.monotonic() + 20  # a thread whose result has come may take a while to end
    while held := [each for each in gc.get_objects() if type(each) is Run and each.name == "added"]:
        assert time.monotonic() < end, held
        del held
        time.sleep(0.1)
        gc.collect()


@pytest.mark.own_cache
@pytest.mark.parametrize("page", PAGES)
def test_a_tab_holds_no_run(page):
    app = open_page(page, run="added")
    while "refining_job" in app.session_state:  # what is computed holds it
        time.sleep(0.1)
        rerun(app)
    assert_is_gone()
    rerun(app)


@pytest.mark.own_cache
def test_buttons_of_labels_hold_none_and_find_it_again():
    app = open_page("label", run="added", label_source="My own table")
    table = ("mine.tsv", EXAMPLE.read_bytes(), "text/tab-separated-values")
    app.get_by_key("label_table").set_value(table)
    rerun(app)
    for name, said in (("true", "**true**"), ("false", "**false**"), ("skip", "skipped")):
        assert_is_gone()
        app.get_by_key(f"label_{name}").click()
        rerun(app)
        assert any(said in each.value for each in app.main.caption)
    for name in ("label_undo", "labelled_instances"):
        assert app.get_by_key(name)
    assert_is_gone()
    app.get_by_key("label_undo").click()
    rerun(app)
    assert any("**false**" in each.value for each in app.main.caption)
