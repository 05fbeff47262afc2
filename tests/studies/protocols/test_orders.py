"""Orders of runs by protocols, and the pairs that flip."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.protocols.orders import compare_orders, protocol_orders
from kgdash.studies.protocols.protocols import EXACT, ProtocolSetting


def values(**by_metric):
    rows = []
    for metric, (exact, sampled) in by_metric.items():
        for number, (right, found) in enumerate(zip(exact, sampled, strict=True)):
            rows.append((f"run{number}", EXACT.name, metric, right, right))
            rows.append((f"run{number}", "sample", metric, found, right))
    return pd.DataFrame(rows, columns=["run", "protocol", "metric", "value", "exact"])


def test_flips_by_hand():
    found = compare_orders(values(mrr=([0.3, 0.2, 0.1], [0.8, 0.9, 0.1]), mr=([5, 9], [3, 2])))
    orders = found.orders.set_index("metric")
    assert orders["flips"].to_dict() == {"mrr": 1, "mr": 1}
    assert orders["tau"].to_dict() == pytest.approx({"mrr": 1 / 3, "mr": -1})
    assert found.flips.to_numpy().tolist() == [
        ["sample", "mrr", "run0", "run1", 0.3, 0.2, 0.8, 0.9],
        ["sample", "mr", "run0", "run1", 5, 9, 3, 2],
    ]


def test_ties_are_no_flips():
    found = compare_orders(values(mrr=([0.3, 0.3], [0.8, 0.9])))
    assert found.flips.empty
    assert np.isnan(found.orders["tau"]).all()


def test_of_runs(bundled):
    runs = [bundled(f"umls-{model}") for model in ("transe", "complex", "conve")]
    found = protocol_orders(runs, ProtocolSetting((20,), ks=(1,)))
    assert found.values["run"].unique().tolist() == [run.name for run in runs]
    assert len(found.orders) == 4 * 3
    assert found.orders["flips"].sum() == len(found.flips)
    assert found.orders["tau"].between(-1, 1).all()


def test_one_run_has_no_order(bundled):
    found = protocol_orders([bundled("umls-transe")])
    assert found.orders["tau"].isna().all()
    assert found.flips.empty


def test_the_same_run_twice_is_refused(bundled):
    with pytest.raises(KgdashError, match="same run"):
        protocol_orders([bundled("umls-transe")] * 2)
