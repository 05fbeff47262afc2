"""Visitors of a server on its pages: let in by name, each with things and rights of their own."""

import shutil
import time
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from kgdash.breakdowns.custom_grouping import condition_grouping
from kgdash.errors import KgdashError
from kgdash.files.table_cache import cached_table, clear_cache
from kgdash.files.visitor import NOBODY, RIGHTS, visitor
from kgdash.progress import silent
from kgdash.runs import Run
from kgdash.runs.adding import add_folder, add_zip
from kgdash.runs.bundled import DEMO, FOLDER_CHOICE
from kgdash.runs.library import remove_run, rename_run, runs_folder
from kgdash.runs.loading import load
from kgdash.runs.recent import note_opened, recent_folders
from kgdash.runs.saved_groupings import groupings_file, save_grouping, saved_groupings
from kgdash.serving.access import end_log_in
from kgdash.serving.settings import SETTING
from kgdash.studies.classification.given_negatives import find_negatives
from kgdash.studies.inspection.other_runs import runs_on_same_graph
from kgdash.studies.instances.instance_table import read_rule_table
from kgdash.studies.labelling.journal import journal_file
from kgdash.studies.labelling.queue import label_queue
from kgdash.studies.labelling.session import judge
from kgdash.studies.labelling.sources import instance_predictions
from kgdash.ui.instances.rules_form import _labelled
from kgdash.ui.library.trainings import trainings
from kgdash.ui.runtime import page_turns
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.runtime.result_cache import memory
from kgdash.ui.runtime.visitors import server_settings, session_visitor
from tests.pages.driver import APP
from tests.support.paths import EXAMPLE, ROOT
from tests.support.servers import write_settings

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def claims(name: str) -> dict:
    """Return what the provider says of somebody."""
    email = f"{name}@example.org"
    said = {"iss": "https://id.example.org", "sub": name, "email": email, "email_verified": True}
    return said | {"is_logged_in": True, "groups": ["lab"], "iat": time.time()}


@pytest.fixture(autouse=True)
def server(tmp_path, monkeypatch):
    """Serve a root with a run, beside a folder that nobody may see; Ada may do everything."""
    for name in ("root", "outside"):
        shutil.copytree(DEMO / "umls-rotate", tmp_path / name / "mine")
    every = "".join(f'{right} = ["ada@example.org"]\n' for right in RIGHTS)
    path = write_settings(tmp_path, 'roots = ["root"]', who=every)
    monkeypatch.setenv(SETTING, str(path))
    return tmp_path


def visit(name: str, page: str = "overview", **url: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.user = claims(name) if name else {}
    app.query_params.update(url)
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception[0].stack_trace
    return app


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def assert_asks_for_log_in(app: AppTest) -> None:
    assert not app.exception
    assert [title.value for title in app.title] == ["Log in"]
    assert buttons(app) == ["Log in"]
    assert not [*app.sidebar.button, *app.dataframe, *app.metric, *app.text_input, *app.selectbox]


@pytest.mark.parametrize("user", [{}, {"is_logged_in": False}, claims("ada") | {"iat": 0}])
def test_strangers_see_no_page(user):
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.user = user
    assert_asks_for_log_in(app.run())


@pytest.mark.parametrize("page", PAGES)
def test_a_pages_file_alone_asks_too(page):
    """Streamlit runs one alone where it does not know dashboard.py's pages yet."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
    assert_asks_for_log_in(app.run())


def test_each_page_takes_a_turn_of_the_visitors_pages(monkeypatch):
    taken = []

    class Turns:
        def __init__(self, owner, what, most):
            self.what = what

        def acquire(self, timeout):
            taken.append((self.what, 1))
            return True

        def release(self):
            taken.append((self.what, -1))

    monkeypatch.setattr(page_turns, "turns_of", Turns)
    visit("ada", "metric_guide")
    assert [each for each in taken if each[0] == "pages"] == [("pages", 1), ("pages", -1)]


def test_threads_without_a_session_are_nobodys():
    assert session_visitor() == visitor() == NOBODY


def test_who_is_let_in_sees_the_way_out():
    app = visit("bob", "metric_guide", run="umls-transe")
    assert app.title[0].value == "Metric guide"
    assert "Logged in as bob@example.org" in [each.value for each in app.sidebar.text]
    assert "Log out" in [each.label for each in app.sidebar.button]


def test_after_log_out_no_other_tab_goes_on():
    app = visit("ada", "metric_guide", run="umls-transe")
    end_log_in(app.user, server_settings())
    assert_asks_for_log_in(app.run())


def test_what_is_computed_when_the_log_in_ends_is_not_shown(monkeypatch):
    """The whole page came, up to half a minute after the log-out in another tab."""
    memory.clear()  # another test's page may have asked for the same
    ranks, app = Run.ranks, AppTest.from_file(str(APP), default_timeout=60)
    app.user = claims("ada")

    def slow(run, *arguments, **named):
        end_log_in(app.user, server_settings())
        return ranks(run, *arguments, **named)

    monkeypatch.setattr(Run, "ranks", slow)
    app.query_params.update(run="umls-transe")
    assert_asks_for_log_in(app.switch_page("pages/metrics.py").run())


def test_without_rights_there_are_no_buttons(keep_all):
    cached_table({"kind": "ranks"}, lambda: pd.DataFrame({"x": [1]}))
    shutil.copytree(DEMO / "umls-rotate", runs_folder() / "shared")
    runs, cache = visit("bob", "runs"), visit("bob", "cache")
    offered = {"Train a run …", "Add", "Rename …", "Remove …", "Clear all …", "Clear selected"}
    assert not offered & {*buttons(runs), *buttons(cache)}
    told = " ".join(each.value for app in (runs, cache) for each in app.caption)
    assert not [right for right in RIGHTS.values() if f"You may not {right} here." not in told]
    assert "KGDASH_" not in told
    assert offered <= {*buttons(visit("ada", "runs")), *buttons(visit("ada", "cache"))}


@pytest.mark.parametrize(
    "act",
    [
        lambda: clear_cache(),
        lambda: clear_cache(["x"]),
        lambda: remove_run("shared"),
        lambda: rename_run("shared", "other"),
        lambda: add_folder(DEMO / "umls-transe"),
        lambda: add_zip(b"PK", "x.zip"),
        lambda: trainings().start("umls", None, "", ""),
    ],
)
def test_actions_ask_themselves(as_visitor, act):
    shutil.copytree(DEMO / "umls-rotate", runs_folder() / "shared")
    as_visitor(name="bob", folder="b", rights=frozenset())
    with pytest.raises(KgdashError, match="you may not"):
        act()
    assert [path.name for path in runs_folder().iterdir()] == ["shared"]


def test_runs_below_the_root_are_opened_and_others_refused_alike(server):
    app = visit("bob", run=FOLDER_CHOICE, folder=str(server / "root" / "mine"))
    assert not app.error
    for name in ("outside/mine", "outside/none", "server.toml", "root/../outside/mine"):
        named = f"{server}/{name}"
        app = visit("bob", run=FOLDER_CHOICE, folder=named)
        refusal = f"{named} is not below a folder that may be opened here"
        assert app.error[0].value == plain(refusal)


def test_every_field_for_paths_keeps_to_the_roots(server):
    outside, refusal = str(server / "outside" / "mine"), "may be opened here"
    compared = visit("bob", "compare", run="umls-transe", folders=f"{outside}\n")
    searched = visit("bob", "model_selection", study="A file on this machine …", study_file=outside)
    own = str(server / "root" / "mine")
    (server / "root" / "mine" / "link").symlink_to(server / "outside")
    linked = visit("bob", run=FOLDER_CHOICE, folder=own)
    for app in (compared, searched, linked):
        assert refusal in app.error[0].value, app
    added = visit("ada", "runs")
    added.get_by_key("added_folder").set_value(outside)
    added.get_by_key("add_folder").click()
    assert refusal in added.run().error[0].value


def test_a_dataset_outside_is_refused(server, as_visitor, pykeen_directory):
    shutil.copytree(pykeen_directory, server / "root" / "pykeen")
    (server / "outside" / "data").mkdir()
    (server / "outside" / "data" / "train.tsv").write_text("a\tr\tb\n")
    as_visitor(roots=(server / "root",))
    assert load(server / "root" / "pykeen", "nations").graph.name == "nations"
    for dataset in ("outside/data", "outside/none"):
        with pytest.raises(KgdashError, match="may be opened here"):
            load(server / "root" / "pykeen", server / dataset)
    with pytest.raises(KgdashError, match="unknown dataset"):
        load(server / "root" / "pykeen", "tests")  # a folder where this process runs
    as_visitor(roots=(server / "root",), rights=frozenset())
    with pytest.raises(KgdashError, match="you may not have dataset Wikidata5M downloaded"):
        load(server / "root" / "pykeen", "Wikidata5M")


def test_what_a_run_says_of_itself_opens_nothing(server, as_visitor, bundled):
    data = server / "outside" / "data"
    data.mkdir()
    for split in ("valid", "test"):
        (data / f"{split}_negatives.txt").write_text("a\tb\tc\n")
    run = bundled("umls-transe")
    run = replace(run, provenance={**run.provenance, "dataset": str(data)})
    as_visitor()
    assert find_negatives(run) is not None
    as_visitor(roots=(server / "root",))
    assert find_negatives(run) is None


def test_neighbours_of_a_run_are_not_seen_from_it(server, as_visitor):
    as_visitor(roots=(server / "root",))
    shutil.copytree(DEMO / "umls-transe", server / "root" / "two")
    run = load(server / "root" / "mine")
    assert str(server / "root" / "two") in runs_on_same_graph(run)
    as_visitor(roots=(server / "root" / "mine",))
    assert str(server / "root" / "two") not in runs_on_same_graph(run)


def test_own_things_are_apart(server, as_visitor, bundled):
    as_visitor()
    run, mine = bundled("umls-transe"), load(server / "root" / "mine")
    made = condition_grouping("mine", ["rare: frequency < 9"])
    for name in ("a", "b"):
        as_visitor(name=name, folder=name, roots=(server / "root",))
        assert saved_groupings(run) == {}
        assert recent_folders() == []
        save_grouping(run, made)
        note_opened(str(server / "root" / "mine"))
        note_opened(str(server / "outside" / "mine"))
        assert recent_folders() == [(str(server / "root" / "mine"), "")]
        assert journal_file(run.graph).parents[1].name == name
        # Not in the run's folder either, where others would find it.
        assert groupings_file(mine).parents[1].name == name
    as_visitor()
    assert saved_groupings(run) == {}
    as_visitor(folder=None)
    assert recent_folders() == []
    for act in (lambda: journal_file(run.graph), lambda: groupings_file(run)):
        with pytest.raises(KgdashError, match="log in first"):
            act()


def test_judgements_on_a_server_are_of_the_labels_that_were_read(as_visitor, bundled):
    """Those of a run whose labels were exchanged counted for other triples of the bundled one."""
    as_visitor()
    graph = bundled("umls-transe").graph
    others = [replace(graph, entity_labels=graph.entities[k:] + graph.entities[:k]) for k in (1, 2)]
    assert len({journal_file(each) for each in (graph, *others)}) == 1
    as_visitor(name="ada", folder="a")
    assert len({journal_file(each) for each in (graph, *others)}) == 3
    assert journal_file(graph).stem == graph.digest


def test_results_of_equal_labels_are_apart(as_visitor, bundled):
    """What is remembered of one's labels says whose they are."""
    run = bundled("umls-transe")
    as_visitor()
    table = read_rule_table(EXAMPLE, run.graph)
    queue = label_queue(run, instance_predictions(table))
    keys = []
    for name in ("a", "b"):
        as_visitor(name=name, folder=name, roots=())
        judge(queue, queue.order[0], True, name)
        choice = _labelled(run)
        assert choice.make(silent).notes == (f"1 predictions labelled by {name}",)
        keys.append(choice.key)
    assert keys[0] != keys[1]


def test_labels_carry_the_name_that_is_logged_in():
    keys = [each.key for each in visit("bob", "label", run="umls-transe").text_input]
    assert "label_by" not in keys


def test_without_log_in_roots_count_too(server, monkeypatch):
    path = server / "local.toml"
    path.write_text('roots = ["root"]\n[limits]\nrows = 3')
    monkeypatch.setenv(SETTING, str(path))
    who = session_visitor()
    assert (who.folder, who.roots, who.most_rows) == ("", (server / "root",), 3)
    assert who.rights == set(RIGHTS)
    app = visit("", run=FOLDER_CHOICE, folder=str(server / "outside" / "mine"))
    assert "may be opened here" in app.error[0].value
