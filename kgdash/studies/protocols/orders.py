"""Do sampled protocols order runs as exact ranks do?

Defined in numbers.md#30-sampled-protocols.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.statistics.rounding import rounded
from kgdash.studies.comparison.comparison import check_comparable, distinct_names
from kgdash.studies.protocols.protocols import EXACT, ProtocolSetting, protocols


@dataclass(frozen=True)
class ProtocolOrders:
    """What protocols say of some runs.

    ``values``: `kgdash.studies.protocols.protocols.protocols` of each, with ``run`` before;
    ``orders``: per protocol and metric, ``tau`` (Kendall's τ-b between the expected values' order
    of runs and the exact ones'; NaN for fewer than two runs, or where all are equal) and ``flips``
    (int64: pairs that the two order differently); ``flips``: a row for each, ``protocol``,
    ``metric``, ``better`` and ``worse`` (by exact values), ``exact_better``, ``exact_worse``,
    ``sampled_better``, ``sampled_worse``.
    """

    values: pd.DataFrame
    orders: pd.DataFrame
    flips: pd.DataFrame


_FLIPS = ["protocol", "metric", "better", "worse"]
_FLIPS += ["exact_better", "exact_worse", "sampled_better", "sampled_worse"]


def protocol_orders(
    runs: Sequence[Run], setting: ProtocolSetting | None = None, progress: Progress = silent
) -> ProtocolOrders:
    """Compare what protocols say of 1 to 8 runs on one graph.

    :raises KgdashError: as `kgdash.studies.comparison.comparison.check_comparable` for two and
        more, and `protocols`
    """
    if len(runs) != 1:
        check_comparable(runs)
    names, parts = distinct_names(runs), []
    reports = phases(progress, [1.0] * len(runs))
    for run, name, report in zip(runs, names, reports, strict=True):
        found = protocols(run, setting, report)
        found.insert(0, "run", name)
        parts.append(found)
    return compare_orders(pd.concat(parts, ignore_index=True))


def compare_orders(values: pd.DataFrame) -> ProtocolOrders:
    """Compare the orders of runs by protocols, metric by metric, with the exact ones."""
    from scipy.stats import kendalltau

    orders, flips = [], []
    groups = values[values["protocol"] != EXACT.name].groupby(["protocol", "metric"], sort=False)
    for (protocol, metric), rows in groups:
        sign = -1.0 if metric == "mr" else 1.0
        sampled, exact = (sign * rounded(rows[name].to_numpy()) for name in ("value", "exact"))
        flipped = []
        for a, b in itertools.combinations(range(len(rows)), 2):
            if (sampled[a] - sampled[b]) * (exact[a] - exact[b]) < 0:
                flipped.append((a, b) if exact[a] > exact[b] else (b, a))
        tau = kendalltau(sampled, exact).statistic if len(rows) > 1 else np.nan
        orders.append((protocol, metric, float(tau), len(flipped)))
        for good, bad in flipped:
            pair, both = rows.iloc[[good, bad]], ("exact", "value")
            figures = [value for name in both for value in pair[name]]
            flips.append((protocol, metric, *pair["run"], *figures))
    table = pd.DataFrame(orders, columns=["protocol", "metric", "tau", "flips"])
    return ProtocolOrders(values, table, pd.DataFrame(flips, columns=_FLIPS))
