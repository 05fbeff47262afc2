"""The command study prints what the library computes."""

import pandas as pd
import pytest

from kgdash.charts.correlation import task_label
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.correlation import correlation_studies, correlation_study
from kgdash.studies.correlation.models_table import models_table
from kgdash.studies.correlation.study_verdict import study_verdict, sweep_verdict
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.support.cli import strict_json, without_nan

OPTIONS = ["--subgraphs", 9, "--size", 10, "--size", 14, "--seed", 2, "--evaluated", "all"]


@pytest.fixture(scope="module")
def expected(bundled):
    return correlation_study(
        bundled("umls-rotate"),
        [10, 14],
        SubgraphSampling(9, seed=2),
        SubgraphEvaluation("all", seed=2),
        Bootstrap(seed=2),
    )


def test_correlations(call, expected):
    found = strict_json(call("study", "umls-rotate", *OPTIONS, "--json"))
    assert found["rows"] == without_nan(expected[1].to_dict("records"))
    assert (found["sizes"], found["evaluated"]) == ([10, 14], "all")
    mine = expected[1][expected[1]["task"] == "tail_mrr"]
    said = sweep_verdict(mine, "pearson", task_label("tail_mrr"), "sizes")
    assert found["verdict"] == said.replace("**", "")


def test_of_one_size_the_verdict_is_that_of_the_page(call, bundled):
    given = ["--subgraphs", 12, "--size", 20]
    found = strict_json(call("study", "umls-rotate", *given, "--json"))
    _, expected = correlation_study(bundled("umls-rotate"), [20], SubgraphSampling(12))
    said = study_verdict(expected, "tail_mrr", "pearson", task_label("tail_mrr"))
    assert found["verdict"] == said.replace("**", "")


def test_each_subgraph(call, expected, bundled, tmp_path):
    out = tmp_path / "each.parquet"
    printed = call("study", "umls-rotate", *OPTIONS, "--each", "--out", out, "--json")
    assert strict_json(printed)["run"] == "umls-rotate", "what was written is told elsewhere"
    found, table = pd.read_parquet(out), expected[0]
    names = bundled("umls-rotate").graph.entities
    assert found["seed_entity"].tolist() == [names[e] for e in table["seed_entity"]]
    pd.testing.assert_frame_equal(
        found.drop(columns="seed_entity"), table.drop(columns="seed_entity"), check_dtype=False
    )


def test_several_runs_as_the_paper_has_them(call, bundled):
    runs = {name: bundled(name) for name in ("umls-rotate", "umls-transe")}
    given = ["--subgraphs", 8, "--size", 10, "--k", 2, "--corrupt", "anywhere"]
    found = strict_json(
        call("study", "umls-rotate", "--with", "umls-transe", *given, "--paper", "--json")
    )
    _, expected = correlation_studies(
        runs, [10], SubgraphSampling(8), SubgraphEvaluation(ks=(2,), corrupt="anywhere")
    )
    assert found["rows"] == without_nan(
        models_table(expected, p="p_permutation").to_dict("records")
    )
    assert found["runs"] == list(runs)
    assert " of 2 runs" in found["verdict"] or "Fewer than" in found["verdict"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--level", 95], "expected a level between 0 and 1"),
        (["--with", "umls-rotate"], "umls-rotate and umls-rotate"),
        (["--with", "nations-transe"], "unknown run"),
        (["--with", "not loaded"] * 8, "expected 2 to 8 runs to compare; found 9"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("study", "umls-rotate", *options).startswith(message)
