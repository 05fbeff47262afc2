"""The page Compare runs shows what the library computes."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.formats.run_directory import read_run, write_run
from kgdash.graph.communities import find_communities
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.comparison import comparison_content
from kgdash.reports.html import comparison_html
from kgdash.runs.bundled import DEMO, FOLDER_CHOICE
from kgdash.statistics.paired_tests import paired_tests
from kgdash.studies.comparison.community_differences import (
    community_differences,
    entity_differences,
)
from kgdash.studies.comparison.comparison import (
    by_group,
    compared_ranks,
    mean_positions,
    overall,
    pair_of,
    reciprocal_ranks,
)
from kgdash.studies.comparison.comparison_verdict import (
    comparison_verdict,
    shared_tests,
    with_shared,
)
from kgdash.studies.comparison.run_pairs import rank_pairs, relation_sign_tests, triple_differences
from kgdash.studies.comparison.seeds import seed_spread
from tests.pages.driver import cards, choose, choose_folder, messages, open_page, table
from tests.pages.driver import run as run_page
from tests.support.tiny_runs import altered_run

MRR = "inverse_harmonic_mean_rank"
NAMES = ("umls-transe", "umls-complex", "umls-conve")


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


@pytest.fixture(scope="module")
def ranks(runs):
    return compared_ranks(runs)


def open_view(view, **url):
    return choose(open_page("compare", **url), view=view)


def errors(app):
    return [error.value for error in app.error]


def assert_wide(shown, found, rows):
    """Check the values and positions of every run in a table with a row per metric or group."""
    for name, of_run in found.groupby("run", sort=False):
        np.testing.assert_array_equal(shown[name], of_run["value"])
        positions = of_run["position"].tolist()
        assert shown[f"{name} · position"].tolist() == positions
    assert len(shown) == found[rows].nunique()


def test_it_opens_with_the_verdict(ranks):
    tests = paired_tests(reciprocal_ranks(ranks), list(ranks))
    # As a person reads it: names are escaped for Markdown.
    shown = open_page("compare").main.markdown[0].value.replace("\\", "")
    assert shown == comparison_verdict(with_shared(tests, shared_tests(ranks)))


def test_it_offers_the_report_of_what_is_compared(runs):
    app = open_page("compare", **{"with": "umls-complex", "side": "tail"})
    app.get_by_key("make_report").click()
    button = run_page(app).get_by_key("download_report")
    expected = comparison_html(comparison_content(runs[:2], RankSetting(side="tail")))
    assert button.proto.label == f"Download the report ({len(expected.encode()) / 1e6:.1f} MB)"


def test_overall_at_first(ranks):
    app = open_page("compare")
    assert app.get_by_key("with").value == list(NAMES[1:])
    found = overall(ranks)
    found = found[(found["side"] == "both") & (found["rank_type"] == "realistic")]
    shown = table(app, "metric", *NAMES)
    assert_wide(shown, found, "metric")
    guide = metric_records()
    assert shown["metric"][0] == f"{guide[found['metric'].iloc[0]].label} ↓"
    assert len(app.get("plotly_chart")) == 1


def test_other_choices(runs):
    app = open_page("compare", side="head", rank_type="pessimistic")
    choose(app, split="valid", filter_valid="none")
    found = overall(compared_ranks(runs, "valid", "none"))
    found = found[(found["side"] == "head") & (found["rank_type"] == "pessimistic")]
    assert_wide(table(app, "metric", *NAMES), found, "metric")


@pytest.mark.parametrize("by", ["cardinality", "relation"])
def test_groups(runs, ranks, by):
    app = choose(open_view("By group", side="tail"), by=by, metric="hits_at_3")
    found = by_group(add_rank_facts(ranks[NAMES[0]], runs[0].graph), ranks, by, "hits_at_3")
    found = found[found["side"] == "tail"]
    if by == "relation":
        found = found.sort_values("triples", ascending=False, kind="stable")
    shown = table(app, "group", "triples", *NAMES)
    assert_wide(shown, found, "group")
    assert shown["group"].tolist() == found["group"].drop_duplicates().tolist()
    means = mean_positions(found).set_index("run")
    listed = table(app, "run", "mean_position").set_index("run")
    for name in NAMES:
        assert listed.loc[name, "mean_position"] == means.loc[name, "mean_position"]


def test_pairs(ranks):
    app = open_view("Pairs", side="tail")
    tests = paired_tests(reciprocal_ranks(ranks, "tail"), NAMES)
    tests = with_shared(tests, shared_tests(ranks, "tail"))
    np.testing.assert_array_equal(table(app, "p_holm").to_numpy(), tests.to_numpy())
    assert app.get_by_key("b").options == [*NAMES[1:]]
    choose(choose(app, a=NAMES[2]), b=NAMES[0])
    pairs = rank_pairs(pair_of(ranks, NAMES[2], NAMES[0]), "tail")
    better = int(pairs.loc[pairs["rank_a"] < pairs["rank_b"], "count"].sum())
    equal = int(pairs.loc[pairs["rank_a"] == pairs["rank_b"], "count"].sum())
    assert list(cards(app).values()) == [f"{better}", f"{equal}", f"{661 - better - equal}"]
    triples = triple_differences(pair_of(ranks, NAMES[2], NAMES[0]), "tail")
    np.testing.assert_array_equal(
        table(app, "reciprocal_rank_a")["difference"], triples["difference"]
    )
    assert len(app.get("plotly_chart")) == 2


def test_relations(runs, ranks):
    app = open_view("Relations")
    found = relation_sign_tests(pair_of(ranks, *NAMES[:2]))
    found = found[found["side"] == "both"]
    by_size = found.sort_values("triples", ascending=False, kind="stable")
    shown = table(app, "p_sign")
    columns = ["triples", "wins", "ties", "losses", "p_sign", "p_holm", "difference"]
    np.testing.assert_array_equal(shown[columns], by_size[columns])
    labels = runs[0].graph.relation_labels
    assert shown["relation"].tolist() == [labels[r] for r in by_size["relation"]]
    choose(app, relation_order="B wins most")
    assert table(app, "p_sign")["difference"].tolist() == sorted(found["difference"])


def test_where(runs, ranks):
    app = open_view("Where")
    choose(app, resolution=2.0, fewest=20)
    communities = find_communities(runs[0].graph, 2.0)
    found = community_differences(pair_of(ranks, *NAMES[:2]), runs[0].graph, communities)
    shown = table(app, "community", "inside")
    columns = ["community", "name", "entities", "triples", "difference", "low", "high"]
    pd.testing.assert_frame_equal(shown[columns], found[columns])
    entities = entity_differences(pair_of(ranks, *NAMES[:2]))
    entities = entities[entities["triples"] >= 20]
    listed = table(app, "entity", "community")
    np.testing.assert_array_equal(listed["difference"], entities["difference"])
    assert listed["entity"].tolist() == [
        runs[0].graph.entity_labels[entity] for entity in entities["entity"]
    ]


def test_seeds(bundled):
    names = ["umls-transe", *(f"umls-transe-seed{seed}" for seed in range(1, 5))]
    app = open_view("Seeds")
    assert "No two of these runs are seeds" in messages(app)[0]
    choose(app, **{"with": names[1:2]})
    assert "OBL2021 demands 3 seeds" in messages(app)[0]
    choose(app, **{"with": ["umls-rotate"]})
    app.get_by_key("seeds_of_umls-transe").click()
    assert (
        "Add umls-transe-seed1 and umls-transe-seed2 and umls-transe-seed3 and umls-transe-seed4"
        in app.get_by_key("seeds_of_umls-transe").label
    )
    run_page(app)
    assert app.get_by_key("with").value == ["umls-rotate", *names[1:]]
    assert messages(app) == []
    choose(app, **{"with": names[1:]})
    found = seed_spread(overall(compared_ranks([bundled(name) for name in names])), names)
    found = found[(found["side"] == "both") & (found["rank_type"] == "realistic")]
    columns = ["seeds", "mean", "standard_deviation", "low", "high"]
    np.testing.assert_array_equal(table(app, "standard_deviation")[columns], found[columns])


def test_the_run_of_the_sidebar_counts_once():
    app = open_page("compare", run="umls-complex")
    choose(app, **{"with": ["umls-complex"]})
    assert messages(app) == ["Choose one more run, or name its folder."]
    choose(app, **{"with": ["umls-complex", "umls-conve"]})
    assert {"umls-complex", "umls-conve"} <= set(table(app, "metric").columns)
    assert "umls-transe" not in table(app, "metric").columns


def test_folders_and_their_notes(tmp_path):
    notes = {"provenance": {"form": "test", "notes": ["half of it"]}}
    changed = altered_run(tmp_path / "changed", weights=lambda tensor: tensor * 0.9)
    manifest = json.loads((changed / "run.json").read_text())
    (changed / "run.json").write_text(json.dumps(manifest | notes))
    app = open_page("compare")
    choose(app, **{"with": []}, folders=f"\n {changed} \n")
    assert "changed" in table(app, "metric", "umls-transe").columns
    assert messages(app) == ["changed: half of it"]
    choose(app, folders=f"{changed}\n{changed}")
    assert errors(app) == [
        "changed and changed are the same run: their weights are equal. Leave one of them out"
    ]
    choose(app, folders=f"{tmp_path}/nothing")
    assert errors(app) == [f"There is no folder {tmp_path}/nothing."]


def test_a_pykeen_directory_on_another_graph(pykeen_directory):
    app = choose(open_page("compare"), folders=f"{pykeen_directory} | nations")
    assert "umls-transe, umls-complex, umls-conve on umls" in errors(app)[0]
    assert "tiny on nations" in errors(app)[0]
    assert app.title[0].value == "Compare runs"
    choose_folder(app, pykeen_directory, "nations")
    choose(app, **{"with": []}, folders="")
    assert messages(app)[-1].startswith("There is no other run on nations here.")


def test_a_run_without_company_leads_to_runs_that_have_some():
    app = open_page("compare", run="fb15k-237-complex")
    assert messages(app)[-1].startswith("There is no other run on FB15k-237 here.")
    app.button(key="compare_others").click()
    app = run_page(app)
    assert not errors(app)
    assert "umls-complex" in table(app, "metric").columns


@pytest.mark.own_cache
def test_nobody_else_reads_the_labels_of_a_copy_that_was_compared(tmp_path, runs):
    """What was computed of the original had the name and labels of the copy in its key."""
    graph, spec, state, manifest = read_run(DEMO / "umls-transe")
    moved = {
        kind: (*names[1:], names[0])
        for kind in ("entity_labels", "relation_labels")
        if (names := getattr(graph, kind))
    }
    copy = write_run(
        tmp_path / "copy", replace(graph, **moved), spec, state, manifest["training"], {}
    )
    others = ["umls-transe", "umls-complex"]
    for view in ("By group", "Where"):
        choose(
            open_page("compare", run=FOLDER_CHOICE, folder=str(copy), **{"with": others}), view=view
        )
    shown = table(open_page("breakdowns"), "group", "value").set_index("group")["value"]
    found = breakdown(add_rank_facts(runs[0].ranks(), runs[0].graph), "relation")
    of_both = found[found["side"] == "both"].set_index("group")["value"]
    assert shown.to_dict() == of_both.to_dict()
    for view in ("By group", "Where"):
        said = open_view(view, **{"with": "umls-complex"}).main.markdown[0].value
        assert "umls" in said
        assert "copy" not in said


@pytest.mark.parametrize("page", ["compare", "agreement", "which_model", "protocols", "study"])
def test_a_server_opens_with_runs_that_take_little(page, as_visitor, monkeypatch):
    """Runs that one account added to a bundled graph had everybody's pages take minutes."""
    as_visitor(name="ada", folder="a")
    monkeypatch.setattr(
        "kgdash.ui.runtime.loaded_runs.bundled_names", lambda: ["umls-conve", "umls-transe"]
    )
    url = {"view": "Several runs"} if page == "study" else {}
    app = open_page(page, **url)
    assert app.get_by_key("with").value == ["umls-conve"]
