"""The command health prints what the library computes."""

import pandas as pd
import pytest

from kgdash.health.of_run import score_health
from tests.support.cli import strict_json, without_nan


def test_json(call, bundled):
    found = strict_json(
        call("health", "umls-transe", "--split", "valid", "--side", "head", "--json")
    )
    tables = score_health(bundled("umls-transe"), "valid").tables("head")
    assert {name: found[name] for name in tables} == {
        name: without_nan(table.to_dict("records")) for name, table in tables.items()
    }
    assert found["filter"] == "train+valid"
    assert found["ranked"] is True


@pytest.mark.parametrize("name", ["findings", "histogram", "relations"])
def test_tables_and_files(call, bundled, tmp_path, name):
    table = score_health(bundled("umls-transe"), filter="none").tables()[name]
    options = ["health", "umls-transe", "--filter", "none", "--table", name]
    call(*options, "--out", tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "table.parquet"), table, check_dtype=False
    )
    printed = call(*options).splitlines()
    assert printed[0].split("\t") == list(table.columns)
    assert len(printed) == len(table) + 1
