"""The command answer-sets prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.probability.answer_sets import AnswerSetSetting, answer_sets
from tests.support.cli import strict_json

OPTIONS = ["answer-sets", "umls-complex", "--epsilon", "0.2", "--score", "softmax"]


def test_json(call, bundled):
    found = strict_json(call(*OPTIONS, "--groups", "relation", "--json"))
    setting = AnswerSetSetting(0.2, "softmax", "relation")
    theirs = answer_sets(bundled("umls-complex"), setting)
    for key, value in theirs.summary().items():
        assert found[key] == pytest.approx(value)
    table = theirs.by_groups("relation")
    assert found["covgap"] == pytest.approx(theirs.coverage_gap(table))
    assert [row["group"] for row in found["groups"]] == table["group"].tolist()
    assert {"group", "n", "coverage", "mean_size"} <= found["groups"][0].keys()


def test_one_threshold(call):
    found = strict_json(call(*OPTIONS, "--json"))
    assert found["groups"] == []
    assert found["covgap"] == pytest.approx(abs(found["coverage"] - 0.8))
    by = strict_json(call(*OPTIONS, "--by", "side", "--json"))
    assert [row["group"] for row in by["groups"]] != []
    assert by["coverage"] == found["coverage"]


def test_tables(call, tmp_path):
    call(*OPTIONS, "--table", "queries", "--out", tmp_path / "sets.parquet")
    table = pd.read_parquet(tmp_path / "sets.parquet")
    assert {"covered", "size", "side"} <= set(table.columns)


def test_groups_must_be_named(refused):
    assert "--by" in refused(*OPTIONS, "--table", "groups")
