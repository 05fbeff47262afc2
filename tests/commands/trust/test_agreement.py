"""The command agreement prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.agreement.agreement import AgreementSetting, agreement
from kgdash.studies.agreement.agreement_report import (
    agreement_by,
    agreement_summary,
    foreseen_conflicts,
)
from tests.support.cli import strict_json

SEEDS = ("umls-transe", *(f"umls-transe-seed{seed}" for seed in range(1, 4)))
OPTIONS = ["agreement", *SEEDS, "--k", "3"]


@pytest.fixture(scope="module")
def found(bundled):
    return agreement([bundled(name) for name in SEEDS], AgreementSetting(k=3))


def test_json(call, found):
    told = strict_json(call(*OPTIONS, "--by", "relation", "--json"))
    for name, value in agreement_summary(found).items():
        assert told["measures"][name]["value"] == pytest.approx(value.value)
        assert told["measures"][name]["low"] == pytest.approx(value.low)
    table = agreement_by(found, "relation")
    assert [row["group"] for row in told["groups"]] == table["group"].tolist()
    assert [row["run"] for row in told["runs"]] == list(SEEDS)
    rows = {row["by"]: row["roc_auc"] for row in told["foreseen"]}
    assert rows == pytest.approx(foreseen_conflicts(found).set_index("by")["roc_auc"].to_dict())
    assert told["verdict"].startswith("4 runs that rank about equally well")
    assert told["best"] == found.best


def test_tables(call, tmp_path, found):
    call(*OPTIONS, "--table", "queries", "--out", tmp_path / "queries.parquet")
    table = pd.read_parquet(tmp_path / "queries.parquet")
    assert table["hits"].tolist() == found.queries["hits"].tolist()
    assert call(*OPTIONS).splitlines()[0] == "measure\tvalue\tlow\thigh\tn"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*OPTIONS, "--table", "groups"], "--table groups needs --by"),
        (["agreement", "umls-transe"], "expected 2 to 8 runs"),
        (["agreement", "umls-transe", "umls-rotate"], "expected two runs or more that rank"),
        ([*OPTIONS, "--margin", "2"], "expected a margin from 0 to 1; found 2"),
    ],
)
def test_refusals(refused, arguments, message):
    assert refused(*arguments).startswith(message)
