"""The command which-model prints what the library computes, and refuses in one message."""

import pandas as pd
import pytest

from kgdash.studies.comparison.graph_parts import find_parts
from kgdash.studies.comparison.model_selection import (
    pair_correlations,
    pair_differences,
    strategies,
    verdict,
)
from kgdash.studies.comparison.part_scores import part_figures
from tests.support.cli import strict_json, without_nan

NAMES = ("umls-transe", "umls-distmult")


@pytest.fixture(scope="module")
def runs(bundled):
    return [bundled(name) for name in NAMES]


def test_json(call, runs):
    options = ["--regions", "relations", "--side", "tail", "--relik-of", "evaluated", "--seed", 2]
    found = strict_json(call("which-model", *NAMES, *options, "--json"))
    parts = find_parts(runs[0], "relations")
    figures = part_figures(runs, parts, side="tail", relik_of="evaluated")
    assert found["verdict"] == without_nan(verdict(figures, seed=2))
    for name, table in (
        ("strategies", strategies(figures, seed=2)),
        ("parts", figures.table),
        ("overall", figures.overall),
        ("pairs", pair_correlations(pair_differences(figures))),
    ):
        assert found[name] == without_nan(table.to_dict("records"))
    assert found["words"][0].startswith("ReliK picks a best model in ")


def test_tables_and_files(call, runs, tmp_path):
    options = ["--regions", "subgraphs", "--subgraphs", 7, "--size", 20, "--seed", 4]
    out = tmp_path / "parts.parquet"
    call("which-model", *NAMES, *options, "--table", "parts", "--out", out)
    figures = part_figures(runs, find_parts(runs[0], "subgraphs", count=7, size=20, seed=4))
    pd.testing.assert_frame_equal(pd.read_parquet(out), figures.table, check_dtype=False)
    printed = call("which-model", *NAMES, *options).splitlines()
    assert printed[0].split("\t") == list(strategies(figures).columns)
    assert [line.split("\t")[0] for line in printed[1:4]] == ["by ReliK", *NAMES]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected 2 to 8 runs to compare; found 1"),
        ([NAMES[1], "--regions", "walks"], "unknown kind of parts 'walks'"),
        ([NAMES[1], "--relik-of", "test"], "unknown choice of triples for ReliK 'test'"),
        ([NAMES[1], "--resolution", "0"], "expected a resolution above 0"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("which-model", NAMES[0], *options).startswith(message)
