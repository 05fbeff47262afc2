"""The command compare prints what the library computes, and refuses in one message."""

import pandas as pd
import pytest

from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph.communities import find_communities
from kgdash.runs.loading import convert
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.paired_tests import RESAMPLES, paired_tests
from kgdash.studies.comparison.community_differences import (
    community_differences,
    entity_differences,
)
from kgdash.studies.comparison.comparison import (
    by_group,
    compared_ranks,
    overall,
    pair_of,
    reciprocal_ranks,
)
from kgdash.studies.comparison.comparison_verdict import comparison_verdict, shared_tests
from kgdash.studies.comparison.run_pairs import relation_sign_tests, triple_differences
from kgdash.studies.comparison.seeds import seed_spread
from tests.support.cli import strict_json, without_nan
from tests.support.tiny_runs import altered_run

NAMES = ("umls-transe", "umls-transe-seed1", "umls-distmult")


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


def same(found, wanted):
    pd.testing.assert_frame_equal(
        found, wanted.reset_index(drop=True), check_dtype=False, check_exact=False, rtol=1e-12
    )


def test_json(call, runs):
    options = ["--by", "cardinality", "--metric", "hits_at_7", "--side", "tail", "--seed", 3]
    found = strict_json(call("compare", *NAMES, *options, "--json"))
    ranks = compared_ranks(runs)
    assert found["verdict"] == comparison_verdict(pd.DataFrame(found["tests"]))
    groups = by_group(
        add_rank_facts(ranks[NAMES[0]], runs[0].graph), ranks, "cardinality", "hits_at_7"
    )
    tests = paired_tests(
        reciprocal_ranks(ranks, "tail"), NAMES, Bootstrap(resamples=RESAMPLES, seed=3)
    ).assign(p_shared=shared_tests(ranks, "tail"))
    assert (found["runs"], found["filter"]) == (list(NAMES), "train+valid+test")
    assert found["overall"] == without_nan(overall(ranks).to_dict("records"))
    assert found["groups"] == without_nan(groups.to_dict("records"))
    assert found["tests"] == without_nan(tests.to_dict("records"))
    spread = seed_spread(overall(ranks), NAMES[:2]).assign(configuration=NAMES[0])
    assert found["seeds"] == without_nan(spread.to_dict("records"))


def test_tables_of_a_pair(call, runs, tmp_path):
    names = (NAMES[2], NAMES[0])
    pair, graph = pair_of(compared_ranks(runs[::2], "valid"), *names), runs[0].graph
    communities = find_communities(graph, 2.0)
    labels = graph.entity_labels
    entities = entity_differences(pair, "head")
    entities["community"] = communities[entities["entity"]]
    wins = relation_sign_tests(pair)
    wanted = {
        "relations": wins.assign(relation=[graph.relation_labels[r] for r in wins["relation"]]),
        "communities": community_differences(pair, graph, communities, "head"),
        "entities": entities.assign(entity=[labels[e] for e in entities["entity"]]),
        "triples": graph.with_names(triple_differences(pair, "head")),
    }
    options = ["--split", "valid", "--side", "head", "--pair", *names, "--resolution", 2]
    for name, table in wanted.items():
        out = tmp_path / f"{name}.csv"
        call("compare", *NAMES[::2], *options, "--table", name, "--out", out)
        found = pd.read_csv(out, keep_default_na=False, na_values={"low": "", "high": ""})
        same(found, table)


def test_what_is_printed(call, runs, tmp_path):
    printed = call("compare", *NAMES, "--filter", "none")
    (tmp_path / "overall.tsv").write_text(printed)
    found = pd.read_csv(tmp_path / "overall.tsv", sep="\t")
    same(found, overall(compared_ranks(runs, filter="none")))
    by = call("compare", *NAMES[:2], "--by", "pattern")
    assert by.startswith("group\tside\trun")
    assert call("compare", *NAMES[:2], "--pair", *NAMES[:2]).startswith("relation\tside")


def test_the_dataset_is_for_pykeen_directories(refused, pykeen_directory, tmp_path):
    """Its import is the same run, which shows that both were loaded, each as it must be."""
    convert(pykeen_directory, tmp_path / "imported", "nations")
    message = refused("compare", pykeen_directory, tmp_path / "imported", "--dataset", "nations")
    assert message.startswith("tiny and imported are the same run")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (NAMES[:1], "expected 2 to 8 runs to compare; found 1"),
        (["not loaded"] * 9, "expected 2 to 8 runs to compare; found 9"),
        ([NAMES[0], NAMES[0]], "umls-transe and umls-transe are the same run"),
        ([*NAMES, "--rank-type", "median"], "unknown rank type 'median'"),
        ([*NAMES, "--table", "scatter"], "unknown table 'scatter'"),
        ([*NAMES, "--table", "groups"], "unknown table 'groups' in compare without --by"),
        ([*NAMES, "--table", "triples"], "unknown table 'triples' in compare without --pair"),
        ([*NAMES, "--pair", NAMES[0], "x"], "unknown run 'x'"),
        (
            [*NAMES, "--pair", *NAMES[:2], "--table", "communities", "--resolution", "-1"],
            "expected a resolution above 0",
        ),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused("compare", *arguments).startswith(message)


def test_another_graph_is_refused(refused, bundled, tmp_path):
    graph = bundled(NAMES[0]).graph
    other = altered_run(tmp_path / "fewer", {"test": graph.splits["test"][1:]})
    message = refused("compare", NAMES[0], other)
    assert "umls-transe on umls (6,529 triples" in message
    assert "fewer on umls (6,528 triples" in message
