"""What each rank-based metric is, one record each: names, formula, range, direction, use, source.

Defined in numbers.md#15-metric-guide. Start at `find_metric` and `METRICS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError, unknown_name

DEFAULT_KS = (1, 3, 5, 10)

_BORDES = "Bordes et al. 2013, Translating embeddings for modeling multi-relational data"
_VOORHEES = "Voorhees 1999, The TREC-8 question answering track report"
_BERRENDORF = (
    "Berrendorf et al. 2020, On the ambiguity of rank-based evaluation of entity alignment or "
    "link prediction methods"
)
_HOYT = (
    "Hoyt et al. 2022, A unified framework for rank-based evaluation metrics for link prediction "
    "in knowledge graphs"
)

_ADJUSTED = "(x − E[x]) / (best x − E[x])"
_Z = "(x − E[x]) / √Var[x], sign turned so that higher is better"
_USE_OF_Z = (
    "How many standard deviations from guessing: whether a model has learnt anything at all. "
    "Grows with the number of triples, so it is no measure of how good it is."
)

_FROM_0, _FROM_1 = (pd.Interval(least, np.inf, closed="left") for least in (0, 1))
_RECIPROCAL = pd.Interval(0, 1, closed="right")
_TO_1 = pd.Interval(-np.inf, 1, closed="right")
_ANY = pd.Interval(-np.inf, np.inf, closed="neither")


def _ranks(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return ranks


def _ones(ranks: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return np.ones(len(ranks))


def _same(mean: np.ndarray) -> np.ndarray:
    return mean


@dataclass(frozen=True)
class RatioMetric:
    """A metric as ``transform(Σ numerator / Σ denominator)`` over ranks.

    ``numerator`` and ``denominator`` take ranks and numbers of candidates, both ``(n,)``;
    ``transform`` takes the ratio. It is monotone, so that it carries intervals over.
    """

    numerator: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ranks
    denominator: Callable[[np.ndarray, np.ndarray], np.ndarray] = _ones
    transform: Callable[[np.ndarray], np.ndarray] = _same

    def value(self, ranks: np.ndarray, candidates: np.ndarray) -> float:
        """Return the metric of ranks and their numbers of candidates, ``(n,)`` each."""
        above, below = self.numerator(ranks, candidates), self.denominator(ranks, candidates)
        return float(self.transform(np.sum(above) / np.sum(below)))


@dataclass(frozen=True)
class Metric:
    """A metric of ranks r, each among N candidates.

    ``key`` is PyKEEN's, ``synonyms`` are what else it answers to (`find_metric`), ``label`` and
    ``short`` what it is called on pages and in tables of papers. ``values`` are those that it can
    take; ``increasing``: higher is better. ``adjusted_by`` are the keys of what adjusts it for
    chance, the index and the z-score last. ``ratio`` is its form where it is a function of a
    ratio of sums; ``source`` the paper that defines it.
    """

    key: str
    label: str
    formula: str
    values: pd.Interval
    increasing: bool
    use: str
    synonyms: tuple[str, ...] = ()
    short: str = ""
    depends_on_num_entities: bool = True
    adjusted_by: tuple[str, ...] = ()
    ratio: RatioMetric | None = None
    source: str = ""

    @property
    def arrow(self) -> str:
        """Return ↑ if higher is better, ↓ if lower is, nothing if neither is."""
        if self.key == "count":
            return ""
        return "↑" if self.increasing else "↓"

    @property
    def title(self) -> str:
        """Return the label with its arrow."""
        return f"{self.label} {self.arrow}".rstrip()

    @property
    def value_range(self) -> str:
        """Return the interval of its values as people write it: "(0, 1]"."""
        left = "[" if self.values.closed_left else "("
        right = "]" if self.values.closed_right else ")"
        text = f"{left}{self.values.left:g}, {self.values.right:g}{right}"
        return text.replace("-", "−").replace("inf", "∞")


def _hits(k: int) -> Metric:
    return Metric(
        f"hits_at_{k}",
        f"Hits@{k}",
        "mean(r ≤ k)",
        pd.Interval(0, 1, closed="both"),
        True,
        "The share of answers in a list of k that a person would look through. Says nothing "
        "of what lies beyond k, nor of the order within.",
        short=f"Hits@{k}",
        adjusted_by=("adjusted_hits_at_k", "z_hits_at_k") if k == 10 else (),
        ratio=RatioMetric(lambda r, _: r <= k),
        source=_BORDES,
    )


def _z_score(plain: str, label: str, *synonyms: str) -> Metric:
    return Metric(
        f"z_{plain}",
        f"{label}, z-score",
        _Z,
        _ANY,
        True,
        _USE_OF_Z,
        synonyms,
        depends_on_num_entities=False,
        source=_HOYT,
    )


#: key -> record of every metric but hits_at_k, which there is for any k
METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric(
            "arithmetic_mean_rank",
            "Mean rank (MR)",
            "mean(r)",
            _FROM_1,
            False,
            "When every position counts alike, deep ones too. A few very bad ranks "
            "decide it; its size means little without |E|: read it beside AMR or AMRI.",
            ("mean_rank", "mr"),
            short="MR",
            adjusted_by=(
                "adjusted_arithmetic_mean_rank",
                "adjusted_arithmetic_mean_rank_index",
                "z_arithmetic_mean_rank",
            ),
            ratio=RatioMetric(),
            source=_BORDES,
        ),
        Metric(
            "inverse_harmonic_mean_rank",
            "Mean reciprocal rank (MRR)",
            "mean(1/r)",
            _RECIPROCAL,
            True,
            "The usual headline. The first places decide it: from 1 to 2 "
            "costs a half, from 10 to 20 a twentieth; what happens deep down hardly shows.",
            ("mean_reciprocal_rank", "mrr"),
            short="MRR",
            adjusted_by=("adjusted_inverse_harmonic_mean_rank", "z_inverse_harmonic_mean_rank"),
            ratio=RatioMetric(lambda r, _: 1 / r),
            source=_VOORHEES,
        ),
        Metric(
            "geometric_mean_rank",
            "Geometric mean rank",
            "exp mean(ln r)",
            _FROM_1,
            False,
            "Between mean rank and MRR: doubling any rank costs the same.",
            ("gmr",),
            adjusted_by=("adjusted_geometric_mean_rank_index", "z_geometric_mean_rank"),
            ratio=RatioMetric(lambda r, _: np.log(r), transform=np.exp),
            source=_HOYT,
        ),
        Metric(
            "inverse_arithmetic_mean_rank",
            "Inverse arithmetic mean rank",
            "1 / mean(r)",
            _RECIPROCAL,
            True,
            "As the mean rank, where a figure in (0, 1] is wanted.",
            ("iamr",),
            ratio=RatioMetric(transform=lambda mean: 1 / mean),
            source=_HOYT,
        ),
        Metric(
            "harmonic_mean_rank",
            "Harmonic mean rank",
            "1 / mean(1/r)",
            _FROM_1,
            False,
            "As MRR, in places instead of reciprocals.",
            ("hmr",),
            ratio=RatioMetric(lambda r, _: 1 / r, transform=lambda mean: 1 / mean),
            source=_HOYT,
        ),
        Metric(
            "inverse_geometric_mean_rank",
            "Inverse geometric mean rank (IGMR)",
            "1 / exp mean(ln r)",
            _RECIPROCAL,
            True,
            "As the geometric mean rank, in (0, 1], higher is better.",
            ("igmr",),
            ratio=RatioMetric(lambda r, _: np.log(r), transform=lambda mean: np.exp(-mean)),
            source=_HOYT,
        ),
        Metric(
            "median_rank",
            "Median rank",
            "median(r)",
            _FROM_1,
            False,
            "The rank that half of the answers reach; outliers do not move it.",
            ("medr",),
            short="MedR",
        ),
        Metric(
            "inverse_median_rank",
            "Inverse median rank",
            "1 / median(r)",
            _RECIPROCAL,
            True,
            "As the median rank, in (0, 1], higher is better.",
        ),
        Metric(
            "variance",
            "Variance",
            "var(r)",
            _FROM_0,
            False,
            "How unlike the ranks are; of use beside the mean rank only.",
            ("rank_var", "var"),
        ),
        Metric(
            "standard_deviation",
            "Standard deviation",
            "√var(r)",
            _FROM_0,
            False,
            "As the variance, in places.",
            ("rank_std", "std"),
        ),
        Metric(
            "median_absolute_deviation",
            "Median absolute deviation",
            "median |r − median(r)|, scaled to a normal's deviation",
            _FROM_0,
            False,
            "As the standard deviation, hardly moved by outliers.",
            ("rank_mad", "mad"),
        ),
        Metric(
            "count",
            "Count",
            "number of ranks",
            _FROM_0,
            True,
            "How many ranks are behind the figures: two per triple where both sides are.",
            ("rank_count",),
            depends_on_num_entities=False,
        ),
        Metric(
            "adjusted_arithmetic_mean_rank",
            "Adjusted mean rank (AMR)",
            "MR / E[MR]",
            pd.Interval(0, 2, closed="left"),
            False,
            "Mean rank as a share of what guessing gives (1 = guessing), "
            "to compare graphs of different size.",
            ("adjusted_mean_rank", "amr", "aamr"),
            short="AMR",
            depends_on_num_entities=False,
            ratio=RatioMetric(denominator=lambda _, n: (n + 1) / 2),
            source=_BERRENDORF,
        ),
        Metric(
            "adjusted_arithmetic_mean_rank_index",
            "Adjusted mean rank index (AMRI)",
            "1 − (MR − 1) / E[MR − 1]",
            pd.Interval(-1, 1, closed="both"),
            True,
            "The mean rank between guessing (0) and perfect (1), "
            "below 0 is worse than guessing: to compare graphs, splits or restrictions of "
            "different size.",
            ("adjusted_mean_rank_index", "amri", "aamri"),
            short="AMRI",
            depends_on_num_entities=False,
            ratio=RatioMetric(
                lambda r, _: r - 1, lambda _, n: (n - 1) / 2, lambda ratio: 1 - ratio
            ),
            source=_BERRENDORF,
        ),
        Metric(
            "adjusted_inverse_harmonic_mean_rank",
            "Adjusted MRR",
            _ADJUSTED,
            _TO_1,
            True,
            "MRR between guessing (0) and perfect (1): to compare graphs of different size.",
            ("adjusted_mean_reciprocal_rank", "adjusted_mrr", "amrr", "aihmr"),
            short="Adjusted MRR",
            depends_on_num_entities=False,
            source=_HOYT,
        ),
        Metric(
            "adjusted_hits_at_k",
            "Adjusted Hits@10",
            _ADJUSTED,
            _TO_1,
            True,
            "Hits@10 between guessing (0) and perfect (1): where |E| is so small "
            "that guessing hits often.",
            ("adjusted_hits_at_10", "ahits_at_10", "ahits_at_k", "ah_at_10", "ah_at_k", "ahk"),
            short="Adjusted Hits@10",
            depends_on_num_entities=False,
            source=_HOYT,
        ),
        Metric(
            "adjusted_geometric_mean_rank_index",
            "Adjusted geometric mean rank index",
            _ADJUSTED,
            _TO_1,
            True,
            "The geometric mean rank between guessing (0) and perfect (1).",
            ("agmri", "gmri"),
            depends_on_num_entities=False,
            source=_HOYT,
        ),
        _z_score("arithmetic_mean_rank", "Mean rank", "zmr", "zamr"),
        _z_score("geometric_mean_rank", "Geometric mean rank", "zgmr"),
        _z_score("inverse_harmonic_mean_rank", "MRR", "zmrr", "zihmr"),
        _z_score("hits_at_k", "Hits@10", "z_hits_at_10", "zahk"),
    )
}

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
    if hits := re.fullmatch(r"(?:hits|h)_at_(\d+)", key):
        _check_ks((int(hits[1]),))
        return _hits(int(hits[1]))
    # PyKEEN may have metrics that there is no record of.
    records = metric_records()
    if key in records:
        return records[key]
    raise unknown_name("metric", name, list(dict.fromkeys([*records, *_BY_NAME])), where)


@lru_cache(maxsize=32)
def metric_records(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, Metric]:
    """Describe every metric that `kgdash.ranking.metrics.metrics` gives for these k, by key."""
    hits = {f"hits_at_{k}": _hits(int(k)) for k in ks}
    return {
        key: hits.get(key) or METRICS.get(key) or _without_record(key, metric)
        for key, metric in metric_calculators(ks).items()
    }


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
    found = {metric.key: metric for metric in made}
    # What PyKEEN does not have is computed by the form in its record.
    found |= {m.key: m.ratio.value for m in METRICS.values() if m.ratio and m.key not in found}
    return dict(sorted(found.items(), key=lambda item: _sort_key(item[0])))


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
