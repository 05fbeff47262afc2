"""What each rank-based metric is: formula, direction, range, and when to use it.

Defined in numbers.md#15-metric-guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kgdash.errors import KgdashError

DEFAULT_KS = (1, 3, 5, 10)

_LABELS = {
    "arithmetic_mean_rank": "Mean rank (MR)",
    "inverse_harmonic_mean_rank": "Mean reciprocal rank (MRR)",
    "geometric_mean_rank": "Geometric mean rank",
    "inverse_geometric_mean_rank": "Inverse geometric mean rank (IGMR)",
    "adjusted_arithmetic_mean_rank": "Adjusted mean rank (AMR)",
    "adjusted_arithmetic_mean_rank_index": "Adjusted mean rank index (AMRI)",
    "adjusted_inverse_harmonic_mean_rank": "Adjusted MRR",
    "adjusted_geometric_mean_rank_index": "Adjusted geometric mean rank index",
    "z_arithmetic_mean_rank": "Mean rank, z-score",
    "z_geometric_mean_rank": "Geometric mean rank, z-score",
    "z_inverse_harmonic_mean_rank": "MRR, z-score",
}

_FORMULAS = {
    "hits_at": "mean(r ≤ k)",
    "arithmetic_mean_rank": "mean(r)",
    "inverse_arithmetic_mean_rank": "1 / mean(r)",
    "harmonic_mean_rank": "1 / mean(1/r)",
    "inverse_harmonic_mean_rank": "mean(1/r)",
    "geometric_mean_rank": "exp mean(ln r)",
    "inverse_geometric_mean_rank": "1 / exp mean(ln r)",
    "median_rank": "median(r)",
    "inverse_median_rank": "1 / median(r)",
    "variance": "var(r)",
    "standard_deviation": "√var(r)",
    "median_absolute_deviation": "median |r − median(r)|, scaled to a normal's deviation",
    "count": "number of ranks",
    "adjusted_arithmetic_mean_rank": "MR / E[MR]",
    "adjusted_arithmetic_mean_rank_index": "1 − (MR − 1) / E[MR − 1]",
    "adjusted": "(x − E[x]) / (best x − E[x])",
    "z": "(x − E[x]) / √Var[x], sign turned so that higher is better",
}


#: key of a plain metric -> keys of what adjusts it for chance, so for the number of candidates
ADJUSTED = {
    "arithmetic_mean_rank": (
        "adjusted_arithmetic_mean_rank",
        "adjusted_arithmetic_mean_rank_index",
        "z_arithmetic_mean_rank",
    ),
    "inverse_harmonic_mean_rank": (
        "adjusted_inverse_harmonic_mean_rank",
        "z_inverse_harmonic_mean_rank",
    ),
    "hits_at_10": ("adjusted_hits_at_k", "z_hits_at_k"),
    "geometric_mean_rank": ("adjusted_geometric_mean_rank_index", "z_geometric_mean_rank"),
}

_USES = {
    "hits_at": "The share of answers in a list of k that a person would look through. Says nothing "
    "of what lies beyond k, nor of the order within.",
    "arithmetic_mean_rank": "When every position counts alike, deep ones too. A few very bad ranks "
    "decide it; its size means little without |E|: read it beside AMR or AMRI.",
    "inverse_arithmetic_mean_rank": "As the mean rank, where a figure in (0, 1] is wanted.",
    "harmonic_mean_rank": "As MRR, in places instead of reciprocals.",
    "inverse_harmonic_mean_rank": "The usual headline. The first places decide it: from 1 to 2 "
    "costs a half, from 10 to 20 a twentieth; what happens deep down hardly shows.",
    "geometric_mean_rank": "Between mean rank and MRR: doubling any rank costs the same.",
    "inverse_geometric_mean_rank": "As the geometric mean rank, in (0, 1], higher is better.",
    "median_rank": "The rank that half of the answers reach; outliers do not move it.",
    "inverse_median_rank": "As the median rank, in (0, 1], higher is better.",
    "variance": "How unlike the ranks are; of use beside the mean rank only.",
    "standard_deviation": "As the variance, in places.",
    "median_absolute_deviation": "As the standard deviation, hardly moved by outliers.",
    "count": "How many ranks are behind the figures: two per triple where both sides are.",
    "adjusted_arithmetic_mean_rank": "Mean rank as a share of what guessing gives (1 = guessing), "
    "to compare graphs of different size.",
    "adjusted_arithmetic_mean_rank_index": "The mean rank between guessing (0) and perfect (1), "
    "below 0 is worse than guessing: to compare graphs, splits or restrictions of different size.",
    "adjusted_inverse_harmonic_mean_rank": "MRR between guessing (0) and perfect (1): to compare "
    "graphs of different size.",
    "adjusted_hits_at_k": "Hits@10 between guessing (0) and perfect (1): where |E| is so small "
    "that guessing hits often.",
    "adjusted_geometric_mean_rank_index": "The geometric mean rank between guessing (0) and "
    "perfect (1).",
    "z": "How many standard deviations from guessing: whether a model has learnt anything at all. "
    "Grows with the number of triples, so it is no measure of how good it is.",
}


@dataclass(frozen=True)
class MetricInfo:
    """What a reader must know of a metric: shown wherever its value is."""

    key: str
    label: str
    formula: str
    increasing: bool
    value_range: str
    depends_on_num_entities: bool
    use: str = ""

    @property
    def arrow(self) -> str:
        """Return ↑ if higher is better, ↓ if lower is, nothing if neither is."""
        if self.key == "count":
            return ""
        return "↑" if self.increasing else "↓"


@lru_cache(maxsize=32)
def metric_calculators(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, Any]:
    """Return PyKEEN's metric objects by key, hits_at_k once per k, in PyKEEN's alphabetical order.

    :raises KgdashError: if a k is less than 1
    """
    # Imported here: PyKEEN takes seconds to import, and `kgdash runs` does without it.
    from pykeen.metrics.ranking import HitsAtK, rank_based_metric_resolver

    wrong = [k for k in ks if int(k) != k or k < 1]
    if wrong or not len(ks):
        raise KgdashError(f"expected k of Hits@k to be whole numbers ≥ 1; found {list(ks)}")
    made: list[Any] = [HitsAtK(k=int(k)) for k in dict.fromkeys(ks)]
    made += [cls() for cls in rank_based_metric_resolver if cls is not HitsAtK]
    return {metric.key: metric for metric in sorted(made, key=lambda m: _sort_key(m.key))}


def _sort_key(key: str) -> tuple[str, int]:
    name, _, number = key.rpartition("_")
    return (name, int(number)) if number.isdigit() else (key, 0)


@lru_cache(maxsize=32)
def metric_guide(ks: tuple[int, ...] = DEFAULT_KS) -> dict[str, MetricInfo]:
    """Describe every metric that `metrics` gives for these ks, by key."""
    guide = {}
    for key, metric in metric_calculators(ks).items():
        adjusted = key.startswith(("adjusted_", "z_"))
        guide[key] = MetricInfo(
            key=key,
            label=_label(key),
            formula=_text(_FORMULAS, key),
            increasing=bool(metric.increasing),
            value_range=_interval(metric.value_range),
            depends_on_num_entities=not adjusted and key != "count",
            use=_text(_USES, key),
        )
    return guide


def _label(key: str) -> str:
    name, _, number = key.rpartition("_")
    if name == "hits_at" and number.isdigit():
        return f"Hits@{number}"
    hits = {"adjusted_hits_at_k": "Adjusted Hits@10", "z_hits_at_k": "Hits@10, z-score"}
    return _LABELS.get(key) or hits.get(key) or key.replace("_", " ").capitalize()


def _text(texts: dict[str, str], key: str) -> str:
    """Return the text of a metric, or of its kind."""
    kind = "hits_at" if key.startswith("hits_at_") else key.partition("_")[0]
    return texts.get(key) or texts[kind]


def _interval(value_range: Any) -> str:
    low = "−∞" if value_range.lower is None else f"{value_range.lower:g}"
    high = "∞" if value_range.upper in (None, float("inf")) else f"{value_range.upper:g}"
    left = "[" if value_range.lower is not None and value_range.lower_inclusive else "("
    right = "]" if high != "∞" and value_range.upper_inclusive else ")"
    return f"{left}{low}, {high}{right}".replace("-", "−")
