"""The page Answer sets shows what the library computes."""

import pytest

from kgdash.statistics.estimate import number
from kgdash.studies.probability.answer_sets import AnswerSetSetting, answer_sets, compare_conditions
from kgdash.studies.probability.set_members import set_members
from kgdash.studies.probability.set_verdict import comparison_verdict, coverage_verdict
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import cards, choose, open_page, table


@pytest.fixture
def sets(run):
    return answer_sets(run)


def test_the_answer_first(sets, run):
    app = open_page("answer_sets")
    text = [markdown.value for markdown in app.main.markdown]
    assert coverage_verdict(sets) in text
    found = sets.summary()
    assert cards(app)["Coverage"] == f"{found['coverage']:.1%}"
    assert cards(app)["Mean size"] == number(found["mean_size"])
    compared = compare_conditions(run, AnswerSetSetting(), "community")
    assert comparison_verdict(compared, "community") in text
    assert table(app, "covgap", "cost")["covgap"].tolist() == compared["covgap"].tolist()
    assert table(app, "median_size")["n"].sum() == len(sets.queries)
    listed = table(app, "members")
    missed = sets.queries.index[~sets.queries["covered"]]
    assert (listed["covered"] == "✗ not in").sum() == min(len(missed), 30)
    rows = sets.queries.sort_values(["covered", "size"], kind="stable").index[:30].to_numpy()
    assert listed["members"].tolist() == set_members(sets, rows)["members"].tolist()


def test_settings(run):
    app = choose(open_page("answer_sets"), promise="80%", score="rank", groups="relation")
    found = answer_sets(run, AnswerSetSetting(0.2, "rank", "relation"))
    assert cards(app)["Mean size"] == number(found.summary()["mean_size"])
    app = choose(app, asked_by="relation")
    by_relation = found.by_groups("relation")
    assert table(app, "median_size")["coverage"].tolist() == by_relation["coverage"].tolist()


def test_the_group_in_the_address(sets, run):
    groups = sets.by_groups("degree")
    row = groups.iloc[1]
    app = open_page("answer_sets", asked_by="Degree", set_group=row["group"])
    assert f"Sets: {plain(row['group'])}" in [header.value for header in app.header]
    assert any(f"of {row['n']:,} sets" in caption.value for caption in app.main.caption)
    app = choose(app, asked_by="side")
    assert "Sets" in [header.value for header in app.header], "no side is called so"
