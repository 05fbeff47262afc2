"""The command confounders prints what the library computes, and refuses in one message."""

import pandas as pd
import pytest

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.confounder_verdict import describe_partials
from kgdash.studies.correlation.confounders import (
    factor_tests,
    triple_factors,
    triple_partials,
)
from kgdash.studies.correlation.subgraph_confounders import subgraph_factors, subgraph_partials
from tests.support.cli import strict_json, without_nan

RUN = "umls-distmult"


@pytest.fixture(scope="module")
def run(bundled):
    return bundled(RUN)


def test_json(call, run):
    options = ["--split", "valid", "--side", "head", "--seed", 3, "--level", 0.9]
    found = strict_json(call("confounders", RUN, *options, "--json"))
    factors = triple_factors(run, "valid", "head")
    partial = triple_partials(factors, Bootstrap(0.9, seed=3))
    for name, table in (
        ("factors", factor_tests(factors, Bootstrap(0.9, seed=3))),
        ("partial", partial),
    ):
        assert found[name] == without_nan(table.to_dict("records"))
    assert {row["factor"] for row in found["classes"]} == {"cardinality", "pattern"}
    assert found["remains"] == describe_partials(partial)


def test_subgraphs_to_a_file(call, run, tmp_path):
    out = tmp_path / "table.parquet"
    options = ["--table", "subgraphs", "--subgraphs", 6, "--size", 12, "--seed", 1]
    call("confounders", RUN, *options, "--out", out)
    expected = subgraph_partials(
        *subgraph_factors(run, SubgraphSampling(6, 12, seed=1)), bootstrap=Bootstrap(seed=1)
    )
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected, check_dtype=False)


def test_a_table_is_printed(call, run):
    lines = call("confounders", RUN, "--table", "factors").splitlines()
    factors = factor_tests(triple_factors(run))
    assert lines[0].split("\t") == list(factors.columns)
    assert [line.split("\t")[0] for line in lines[1:]] == factors["factor"].tolist()


def test_refusal(refused):
    assert refused("confounders", RUN, "--relik-method", "fast").startswith("unknown method 'fast'")
