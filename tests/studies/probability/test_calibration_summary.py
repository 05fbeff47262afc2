"""The summary is what the report computes, and is found on disk again."""

import pandas as pd
import pytest

from kgdash.files import table_cache as store
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.probability import calibration_summary
from kgdash.studies.probability.calibration import WAYS, calibration_on_test
from kgdash.studies.probability.calibration_report import (
    diagram,
    grouped_errors,
    overall_errors,
    sure_answers,
)
from kgdash.studies.probability.calibration_summary import (
    calibration_by_groups,
    summarize_calibration,
)

FEW = Bootstrap(resamples=30)


@pytest.fixture
def kept(monkeypatch, tmp_path):
    monkeypatch.setenv("KGDASH_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "_WORTH_KEEPING", -1)


def test_as_the_report_and_kept(bundled, kept, monkeypatch):
    run = bundled("umls-complex")
    tested = calibration_on_test(run)
    first = summarize_calibration(run, FEW)
    groups = calibration_by_groups(run, "relation", FEW)
    monkeypatch.setattr(calibration_summary, "calibration_on_test", None)  # not asked again
    for found in (first, summarize_calibration(run, FEW)):
        pd.testing.assert_frame_equal(found.errors, overall_errors(tested, FEW), check_dtype=False)
        for way in WAYS:
            own = found.diagrams[found.diagrams["way"] == way].drop(columns="way")
            pd.testing.assert_frame_equal(
                own.reset_index(drop=True), diagram(tested, way), check_dtype=False
            )
        assert tuple(found.sure.iloc[0]) == pytest.approx(sure_answers(tested))
    again = calibration_by_groups(run, "relation", FEW)
    pd.testing.assert_frame_equal(again, groups)
    pd.testing.assert_frame_equal(again, grouped_errors(tested, "relation", FEW))
