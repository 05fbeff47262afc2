"""The command predict-performance prints what the library computes."""

import pandas as pd
import pytest

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.studies.correlation.performance_prediction import (
    predict_performance_of_run,
    predict_subgraphs,
)
from kgdash.studies.correlation.prediction_verdict import prediction_verdict
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.support.cli import strict_json, without_nan

OPTIONS = ["--subgraphs", 22, "--size", 9, "--seed", 2, "--evaluated", "all", "--level", 0.8]
ARGUMENTS = (SubgraphSampling(22, 9, seed=2), SubgraphEvaluation("all"), 0.8)


@pytest.fixture(scope="module")
def umls(bundled):
    return bundled("umls-rotate")


@pytest.fixture(scope="module")
def expected(umls):
    return predict_performance_of_run(umls, "both_mrr", *ARGUMENTS)


def test_json(call, umls, expected):
    more = ["--task", "both_mrr", "--entity", "virus", "--entity", "cell"]
    found = strict_json(call("predict-performance", "umls-rotate", *OPTIONS, *more, "--json"))
    prediction, learnt = expected
    assert found["errors"] == without_nan(prediction.errors.to_dict("records"))
    assert found["coverage"] == without_nan(prediction.coverage.to_dict("records"))
    assert (found["task"], found["left_out"]) == ("both_mrr", prediction.left_out)
    said = prediction_verdict(prediction, "both MRR")
    assert said
    assert found["verdict"] == said.replace("**", "")
    parts = [umls.subgraph(entity, size=9, seed=2) for entity in ("virus", "cell")]
    table = predict_subgraphs(umls, prediction, learnt, parts, SubgraphEvaluation("all")).assign(
        seed_entity=["virus", "cell"]
    )
    assert found["expected"] == without_nan(table.to_dict("records"))


def test_tables(call, umls, tmp_path):
    prediction, _ = predict_performance_of_run(umls, "tail_mrr", *ARGUMENTS)
    out = tmp_path / "points.parquet"
    call("predict-performance", "umls-rotate", *OPTIONS, "--table", "points", "--out", out)
    points = prediction.points.drop(columns="row")
    points["seed_entity"] = [umls.graph.entities[e] for e in points["seed_entity"]]
    pd.testing.assert_frame_equal(pd.read_parquet(out), points, check_dtype=False)
    header, *rows = call("predict-performance", "umls-rotate", *OPTIONS).splitlines()
    assert header.split("\t") == list(prediction.errors.columns)
    assert len(rows) == len(prediction.errors)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--subgraphs", 5], "too few subgraphs with a value of tail_mrr"),
        (["--entity", "viruss"], "unknown entity 'viruss'"),
        (["--table", "expected"], "--table expected needs at least one --entity"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("predict-performance", "umls-rotate", "--size", 9, *options).startswith(message)
