"""The page Model selection shows what is in the file of a search."""

import pytest

from kgdash.hpo.selection import Budget, best_command, search
from kgdash.hpo.study_file import read_study
from kgdash.runs.bundled import DEMO_STUDY
from kgdash.statistics.estimate import number
from tests.pages.driver import cards, choose, messages, open_page, table
from tests.pages.driver import run as rerun
from tests.support.small_search import PLAN

FILE = "A file on this machine …"


def check(app, study):
    states = study.trials["state"].value_counts()
    best = study.trials["value"].where(study.trials["state"] == "finished").max()
    assert cards(app) == {
        **{f"Trials {s}": str(states.get(s, 0)) for s in ("finished", "pruned", "failed")},
        "Best MRR on valid": number(best),
    }
    assert table(app, "trial", "value")["value"].equals(study.trials["value"])
    assert app.main.code[0].value == best_command(study)
    shown = table(app, "parameter", "value").set_index("parameter")["value"]
    chosen = study.chosen[study.best]
    assert float(shown["optimizer.lr"]) == pytest.approx(chosen["optimizer.lr"], rel=1e-3)
    assert shown["epochs trained"] == str(study.trials["epochs"][study.best])


def test_the_example():
    app = open_page("model_selection", view="All trials", command="true")
    study = read_study(DEMO_STUDY)
    check(app, study)
    assert len(app.get("plotly_chart")) == 1
    for view in ("Parameters", "Side by side"):
        assert len(choose(app, view=view).get("plotly_chart")) == 2
    assert study.counted >= 30


def test_a_file_that_grows(run, tmp_path):
    path = tmp_path / "x.db"
    shown = {"view": "All trials", "command": "true"}
    app = open_page("model_selection", study=FILE, study_file=str(path), **shown)
    assert app.error[0].value.startswith(f"can not read {path}")
    for trials in (1, 2):
        study = search(run.graph, PLAN, path, Budget(trials=trials))
        check(rerun(app), study)


def test_no_file_and_a_foreign_one(tmp_path):
    app = choose(open_page("model_selection"), study=FILE)
    assert messages(app) == ["Name the file of a search."]
    (tmp_path / "x.db").write_text("no study")
    choose(app, study_file=str(tmp_path / "x.db"))
    assert "expected the SQLite file of a search" in app.error[0].value
    assert not app.main.metric
