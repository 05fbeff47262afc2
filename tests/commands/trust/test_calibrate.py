"""The command calibrate prints what the library computes."""

import pandas as pd
import pytest

from kgdash.studies.probability.calibration import WAYS, calibration_on_test
from kgdash.studies.probability.calibration_report import ERRORS, overall_errors
from tests.support.cli import strict_json


def test_json(call, bundled):
    found = strict_json(call("calibrate", "umls-complex", "--resamples", "50", "--json"))
    table = overall_errors(calibration_on_test(bundled("umls-complex")))
    assert found["test"].keys() == WAYS.keys()
    for row in table.itertuples():
        assert found["test"][row.way][row.error] == pytest.approx(row.value)
    assert found["test"]["fitted"].keys() == ERRORS.keys()


@pytest.mark.parametrize("name", ["errors", "diagram", "relation", "temperatures", "queries"])
def test_tables(call, tmp_path, name):
    options = ["calibrate", "umls-complex", "--resamples", "20", "--table", name]
    call(*options, "--out", tmp_path / "table.parquet")
    table = pd.read_parquet(tmp_path / "table.parquet")
    assert len(table)
    assert call(*options).splitlines()[0].split("\t") == list(table.columns)
