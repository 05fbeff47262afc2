"""The page Agreement shows what the library computes, and opens the queries in conflict."""

import shutil

import pytest

from kgdash.runs.bundled import DEMO
from kgdash.runs.library import keep_run
from kgdash.statistics.estimate import percent
from kgdash.studies.agreement.agreement import AgreementSetting, agreement
from kgdash.studies.agreement.agreement_report import agreement_by, agreement_summary
from kgdash.studies.agreement.agreement_verdict import agreement_verdict
from tests.pages.driver import cards, choose, open_page, table

SEEDS = ("umls-transe", *(f"umls-transe-seed{seed}" for seed in range(1, 5)))


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in SEEDS]


def test_it_opens_on_the_other_seeds(runs):
    app = open_page("agreement")
    assert app.get_by_key("with").value == list(SEEDS[1:])
    found = agreement(runs)
    summary = agreement_summary(found)
    assert agreement_verdict(found, summary) in [text.value for text in app.main.markdown]
    shown = cards(app)
    assert shown["In conflict"] == percent(summary["ambiguity"].value)
    assert shown["Two votes disagree"] == percent(summary["vote_pairwise"].value)
    groups = table(app, "ambiguity")
    assert groups["group"].tolist() == agreement_by(found, "relation")["group"].tolist()
    listed = table(app, "hits", "vote_rank")
    assert len(listed) == found.queries["conflict"].sum()
    assert set(listed["hits"]) == {f"{n} of 5" for n in range(1, 5)}
    app = choose(app, hit_at=10, by="relik")
    summary = agreement_summary(agreement(runs, AgreementSetting(k=10)))
    assert cards(app)["In conflict"] == percent(summary["ambiguity"].value)
    assert any("foresee" in text.value for text in app.main.markdown)


def test_a_server_opens_with_runs_of_the_same_visitor(tmp_path, monkeypatch, as_visitor):
    """Two near copies that another account added turned 15% fewer conflicts into 28%."""
    monkeypatch.setenv("KGDASH_RUNS", str(tmp_path))
    for owner, names in {"ada": ("mine", "mine-2"), "bob": ("also",)}.items():
        as_visitor(name=owner, folder=owner)
        for name in names:
            keep_run(lambda out: shutil.copytree(DEMO / "umls-transe-seed1", out), name)
    as_visitor(name="eve", folder="eve")
    opened = open_page("agreement", run="mine").get_by_key("with").value
    assert "mine-2" in opened
    assert "also" not in opened
    assert set(SEEDS[1:]) >= set(open_page("agreement", run="umls-transe").get_by_key("with").value)


def test_a_margin_that_leaves_one(bundled):
    app = open_page("agreement", run="umls-rotate", **{"with": "umls-transe"})
    assert "found no other within 5% of the MRR of umls-rotate" in app.error[0].value
