"""What a page and a report say of a run's probabilities, kept on disk in small tables.

Defined in numbers.md#23-probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from kgdash.files.table_cache import cached_table
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.probability.calibration import FITTED, WAYS, calibration_on_test
from kgdash.studies.probability.calibration_report import (
    diagram,
    grouped_errors,
    overall_errors,
    sure_answers,
)

#: raise when the meaning of a stored table changes
_VERSION = 3


@dataclass(frozen=True)
class CalibrationSummary:
    """How far a run's probabilities are right on test.

    ``errors``: of `kgdash.studies.probability.calibration_report.overall_errors`; ``diagrams``: of
    `diagram`, with ``way``; ``sure``: one row: ``count`` of first answers with a confidence of
    0.8 or more, and the share of them that is ``right``.
    """

    errors: pd.DataFrame
    diagrams: pd.DataFrame
    sure: pd.DataFrame


def summarize_calibration(
    run: Run, bootstrap: Bootstrap | None = None, progress: Progress = silent
) -> CalibrationSummary:
    """Return the summary, of the tables kept on disk if they are there.

    :param bootstrap: of the intervals; default: 1,000 resamples at 95%
    :raises KgdashError: as `kgdash.studies.probability.calibration.calibration_on_test`
    """
    bootstrap = bootstrap or Bootstrap()

    def compute() -> pd.DataFrame:
        first, second = phases(progress, [3.0, 1.0])
        tested = calibration_on_test(run, first)
        count, right = sure_answers(tested)
        parts = {
            "errors": overall_errors(tested, bootstrap, second),
            "diagrams": pd.concat([diagram(tested, way).assign(way=way) for way in WAYS]),
            "sure": pd.DataFrame({"count": [count], "right": [right]}),
        }
        return pd.concat([rows.assign(part=part) for part, rows in parts.items()])

    stored = _kept(run, {"summary": _VERSION}, bootstrap, compute, progress)
    parts = {
        part: stored.loc[stored["part"] == part, columns].reset_index(drop=True)
        for part, columns in (
            ("errors", ["way", "error", "value", "low", "high"]),
            ("diagrams", ["way", "count", "predicted", "observed", "low", "high"]),
            ("sure", ["count", "right"]),
        )
    }
    for part in ("diagrams", "sure"):
        parts[part] = parts[part].astype({"count": "int64"})
    return CalibrationSummary(**parts)


def calibration_by_groups(
    run: Run, by: str, bootstrap: Bootstrap | None = None, progress: Progress = silent
) -> pd.DataFrame:
    """Return `kgdash.studies.probability.calibration_report.grouped_errors`, kept on disk."""
    bootstrap = bootstrap or Bootstrap()

    def compute() -> pd.DataFrame:
        first, second = phases(progress, [3.0, 1.0])
        return grouped_errors(calibration_on_test(run, first), by, bootstrap, second)

    return _kept(run, {"groups": _VERSION, "by": by}, bootstrap, compute, progress)


def _kept(
    run: Run,
    what: dict[str, Any],
    bootstrap: Bootstrap,
    compute: Callable[[], pd.DataFrame],
    progress: Progress,
) -> pd.DataFrame:
    test = run.graph.split("test")
    names = {"shown": run.graph.shown_digest} if "by" in what else {}
    about = {"kind": "calibration", **FITTED, **what, **names, **asdict(bootstrap)}
    note = run.table_about("calibration", test)
    return cached_table({**about, **run.table_key(test)}, compute, note, progress)
