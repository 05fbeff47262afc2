"""Metrics by the names that people use, and PyKEEN's classes that compute them."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name
from kgdash.ranking.known_metrics import METRICS, hits_at
from kgdash.ranking.metric import Metric

DEFAULT_KS = (1, 3, 5, 10)

_BY_NAME = {name: metric for metric in METRICS.values() for name in (metric.key, *metric.synonyms)}


def find_metric(name: str, where: str = "kgdash") -> Metric:
    """Return the metric of a name, however it is written: "mrr", "AMRI", "hits@10", PyKEEN's key.

    :param name: a key or a synonym; upper and lower case alike, "@" as "_at_", blanks and hyphens
        as "_"; Hits@k for any k ≥ 1
    :param where: what asks, for the refusal
    :raises KgdashError: if there is none of that name, naming near ones, or k is 0
    """
    key = re.sub(r"[\s-]+", "_", name.strip().casefold().replace("@", "_at_"))
    if key in _BY_NAME:
        return _BY_NAME[key]
    if hits := re.fullmatch(r"(?:hits|h)_at_(\d{1,18})", key):
        _check_ks((int(hits[1]),))
        return hits_at(int(hits[1]))
    # PyKEEN may have metrics that there is no record of.
    records = metric_records()
    if key in records:
        return records[key]
    raise unknown_name("metric", name, list(dict.fromkeys([*records, *_BY_NAME])), where)


@lru_cache(maxsize=32)
def metric_records(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, Metric]:
    """Describe every metric that `kgdash.ranking.metrics.metrics` gives for these k, by key."""
    hits = {f"hits_at_{k}": hits_at(int(k)) for k in ks}
    return {
        key: hits.get(key) or METRICS.get(key) or _without_record(key, metric)
        for key, metric in metric_calculators(ks).items()
    }


def leading_first(keys: Iterable[str]) -> list[str]:
    """Order metrics for people: those that most papers report first, the others as they come."""
    ordered = list(keys)
    hits = [key for key in ordered if re.fullmatch(r"hits_at_\d+", key)]
    first = ["inverse_harmonic_mean_rank", *hits, "arithmetic_mean_rank"]
    first += ["adjusted_arithmetic_mean_rank_index"]
    leading = [key for key in first if key in ordered]
    return leading + [key for key in ordered if key not in leading]


@lru_cache(maxsize=32)
def metric_calculators(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, Any]:
    """Return what computes each metric of ranks and candidates, by key in PyKEEN's order.

    They are PyKEEN's metric objects, hits_at_k once per k; what PyKEEN does not have and has a
    record with a form here comes on top.

    :raises KgdashError: if a k is less than 1
    """
    # Imported here: PyKEEN takes seconds to import, and `kgdash runs` does without it.
    from pykeen.metrics.ranking import HitsAtK, rank_based_metric_resolver

    _check_ks(ks)
    made: list[Any] = [HitsAtK(k=int(k)) for k in dict.fromkeys(ks)]
    made += [cls() for cls in rank_based_metric_resolver if cls is not HitsAtK]
    by_key = {metric.key: metric for metric in made}
    # What PyKEEN does not have is computed by the form in its record.
    by_key |= {m.key: m.ratio.value for m in METRICS.values() if m.ratio and m.key not in by_key}
    return dict(sorted(by_key.items(), key=lambda item: _sort_key(item[0])))


def _check_ks(ks: tuple[int, ...]) -> None:
    if not ks or any(int(k) != k or k < 1 for k in ks):
        raise KgdashError(f"expected k of Hits@k to be whole numbers ≥ 1; found {list(ks)}")


def _sort_key(key: str) -> tuple[str, int]:
    name, _, number = key.rpartition("_")
    return (name, int(number)) if number.isdigit() else (key, 0)


def _without_record(key: str, metric: Any) -> Metric:
    """Describe a metric of PyKEEN's by what it says of itself."""
    low, high = metric.value_range.lower, metric.value_range.upper
    left = low is not None and metric.value_range.lower_inclusive
    right = high is not None and metric.value_range.upper_inclusive
    closed = {(1, 1): "both", (1, 0): "left", (0, 1): "right"}.get((left, right), "neither")
    return Metric(
        key,
        key.replace("_", " ").capitalize(),
        "see PyKEEN's documentation",
        pd.Interval(-np.inf if low is None else low, np.inf if high is None else high, closed),
        bool(metric.increasing),
        "See PyKEEN's documentation.",
        depends_on_num_entities=not key.startswith(("adjusted_", "z_")),
    )
