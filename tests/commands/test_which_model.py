"""The command which-model prints what the library computes, and refuses in one message."""

import pandas as pd
import pytest

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.ranking.rank_setting import RankSetting
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.model_selection import (
    pair_correlations,
    pair_differences,
    selection_summary,
    strategies,
)
from kgdash.studies.comparison.part_scores import part_scores
from tests.support.cli import strict_json, without_nan

NAMES = ("umls-transe", "umls-distmult")


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


def test_json(call, runs):
    options = ["--parts", "relations", "--side", "tail", "--relik-of", "evaluated", "--seed", 2]
    found = strict_json(call("which-model", *NAMES, *options, "--json"))
    parts = find_parts(runs[0], "relations")
    scores = part_scores(runs, parts, RankSetting(side="tail"), "evaluated")
    bootstrap = Bootstrap(resamples=2000, seed=2)
    assert found["summary"] == without_nan(selection_summary(scores, bootstrap))
    for name, table in (
        ("strategies", strategies(scores, bootstrap)),
        ("parts", scores.table),
        ("overall", scores.overall),
        ("pairs", pair_correlations(pair_differences(scores))),
    ):
        assert found[name] == without_nan(table.to_dict("records"))
    assert found["words"][0].startswith("ReliK picks a best model in ")


def test_tables_and_files(call, runs, tmp_path):
    options = ["--parts", "subgraphs", "--subgraphs", 7, "--size", 20, "--seed", 4]
    out = tmp_path / "parts.parquet"
    call("which-model", *NAMES, *options, "--table", "parts", "--out", out)
    scores = part_scores(
        runs, find_parts(runs[0], "subgraphs", sampling=SubgraphSampling(7, 20, seed=4))
    )
    pd.testing.assert_frame_equal(pd.read_parquet(out), scores.table, check_dtype=False)
    printed = call("which-model", *NAMES, *options).splitlines()
    assert printed[0].split("\t") == list(strategies(scores).columns)
    assert [line.split("\t")[0] for line in printed[1:4]] == ["by ReliK", *NAMES]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected 2 to 8 runs to compare; found 1"),
        ([NAMES[1], "--parts", "walks"], "unknown kind of parts 'walks'"),
        ([NAMES[1], "--relik-of", "test"], "unknown choice of triples for ReliK 'test'"),
        ([NAMES[1], "--resolution", "0"], "expected a resolution above 0"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("which-model", NAMES[0], *options).startswith(message)
