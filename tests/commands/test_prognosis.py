"""The command prognosis prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.correlation.performance_prediction import expect, prognosis_of_run
from tests.support.cli import strict_json, without_nan

OPTIONS = ["--subgraphs", 22, "--size", 9, "--seed", 2, "--evaluated", "all", "--level", 0.8]
ARGUMENTS = {"count": 22, "size": 9, "seed": 2, "evaluated": "all", "level": 0.8}


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-rotate")


@pytest.fixture(scope="module")
def expected(umls):
    return prognosis_of_run(umls, "both_mrr", curve="isotonic", **ARGUMENTS)


def test_json(call, umls, expected):
    more = ["--task", "both_mrr", "--curve", "isotonic", "--entity", "virus", "--entity", "cell"]
    found = strict_json(call("prognosis", "umls-rotate", *OPTIONS, *more, "--json"))
    prognosis, learnt = expected
    assert found["errors"] == without_nan(prognosis.errors.to_dict("records"))
    assert found["coverage"] == without_nan(prognosis.coverage.to_dict("records"))
    assert (found["task"], found["left_out"]) == ("both_mrr", prognosis.left_out)
    parts = [umls.subgraph(entity, size=9, seed=2) for entity in ("virus", "cell")]
    table = expect(umls, prognosis, learnt, parts, "all").assign(seed_entity=["virus", "cell"])
    assert found["expected"] == without_nan(table.to_dict("records"))


def test_tables(call, umls, tmp_path):
    prognosis, _ = prognosis_of_run(umls, **ARGUMENTS)
    out = tmp_path / "points.parquet"
    call("prognosis", "umls-rotate", *OPTIONS, "--table", "points", "--out", out)
    points = prognosis.points.drop(columns="row")
    points["seed_entity"] = [umls.graph.entities[e] for e in points["seed_entity"]]
    pd.testing.assert_frame_equal(pd.read_parquet(out), points, check_dtype=False)
    header, *rows = call("prognosis", "umls-rotate", *OPTIONS).splitlines()
    assert header.split("\t") == list(prognosis.errors.columns)
    assert len(rows) == len(prognosis.errors)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--subgraphs", 5], "too few subgraphs with a value of tail_mrr"),
        (["--task", "mrr"], "unknown task 'mrr'"),
        (["--curve", "cubic"], "unknown curve"),
        (["--level", 90], "expected a level between 0 and 1"),
        (["--entity", "viruss"], "unknown entity 'viruss'"),
        (["--table", "expected"], "--table expected needs at least one --entity"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("prognosis", "umls-rotate", "--size", 9, *options).startswith(message)
