"""The command guide prints what the library computes."""

import pandas as pd
import pytest

from kgdash.breakdowns.side_comparison import compare_sides, describe_sides
from kgdash.ranking.candidate_subsampling import expected_metrics
from kgdash.ranking.metric_guide import guide_table, plain_and_adjusted
from kgdash.ranking.metrics import metrics
from tests.support.cli import strict_json, without_nan


def test_of_a_run(call, bundled):
    run = bundled("umls-transe")
    ranks = run.ranks("valid")
    options = ["--split", "valid", "--side", "tail", "--rank-type", "optimistic", "--json"]
    found = strict_json(call("guide", "umls-transe", *options))
    values = metrics(ranks).values("tail", "optimistic")
    sides = compare_sides(ranks, run.graph, "optimistic")
    expected = {
        "metrics": guide_table(values),
        "plain_and_adjusted": plain_and_adjusted(values),
        "sides": sides,
        "fewer_candidates": expected_metrics(ranks, "tail", "optimistic"),
    }
    for key, table in expected.items():
        assert found[key] == without_nan(table.to_dict("records"))
    assert found["sides_in_words"] == describe_sides(sides, ranks, "optimistic")
    assert found["filter"] == "train+valid"


def test_without_a_run(call, tmp_path):
    out = tmp_path / "guide.csv"
    call("guide", "--out", out)
    assert pd.read_csv(out, keep_default_na=False).to_dict("records") == guide_table().to_dict(
        "records"
    )
    assert call("guide").splitlines()[0].split("\t") == list(guide_table().columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--side", "left"], "unknown side 'left'"),
        (["--rank-type", "best"], "unknown rank type 'best'"),
        (["--split", "dev"], "unknown split 'dev'"),
    ],
)
def test_refusals(refused, options, message):
    assert refused("guide", "umls-transe", *options).startswith(message)
