"""What a prediction of performance from ReliK is worth, in words.

Defined in numbers.md#17-expected-performance.
"""

from __future__ import annotations

import math

from kgdash.statistics.estimate import number, percent
from kgdash.studies.correlation.performance_prediction import PerformancePrediction
from kgdash.studies.correlation.prediction_intervals import FEWEST

#: R² below which ReliK hardly helps
_HARDLY = 0.1


def checked_scheme(prediction: PerformancePrediction) -> str:
    """Return how a prediction is checked: "disjoint" if enough subgraphs are, or "overlapping"."""
    errors = prediction.errors
    disjoint = errors.loc[errors["scheme"] == "disjoint", "subgraphs"]
    return "disjoint" if (disjoint >= FEWEST).any() else "overlapping"


def prediction_verdict(prediction: PerformancePrediction, label: str) -> str:
    """Say whether ReliK tells more than the mean of all subgraphs, and whether intervals held.

    :param label: what is predicted, such as "tail MRR"
    :return: Markdown; empty if no subgraph could be checked
    """
    scheme, level = checked_scheme(prediction), prediction.level
    errors = prediction.errors.set_index(["scheme", "curve"])
    line, mean = errors.loc[(scheme, "linear")], errors.loc[(scheme, "mean")]
    r2 = float(line["r2"])
    if math.isnan(r2):
        return ""
    means = f"{number(line['mae'])} against {number(mean['mae'])} by the mean"
    if r2 > 0 and scheme == "overlapping":
        said = (
            f"**Whether ReliK tells what {label} to expect, subgraphs that overlap do not tell**, "
            "as what two share leaks"
        )
    elif r2 <= 0:
        said = f"**ReliK does not tell what {label} to expect here** better than the mean of all"
    elif r2 < _HARDLY:
        said = f"**ReliK hardly tells what {label} to expect here**"
    else:
        said = f"**ReliK tells some of what {label} to expect**"
    held = prediction.coverage.set_index(["scheme", "level"]).loc[(scheme, level)]
    kept = "as promised"
    if held["covered_high"] < level:
        kept = "less often than promised"
    elif held["covered_low"] > level:
        kept = "more often than promised"
    return (
        f"{said}: R² {number(r2)}, mean error {means}, on subgraphs that it was not learnt from. "
        f"Intervals of {percent(level)} held for {percent(held['covered'], 1)} of these "
        f"({percent(held['covered_low'], 1)} to {percent(held['covered_high'], 1)}), {kept}."
    )
