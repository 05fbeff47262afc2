"""The record of each metric (numbers.md#15-metric-guide)."""

import numpy as np
import pandas as pd

from kgdash.ranking.metric import Metric, RatioMetric
from kgdash.statistics.unseen import UNIT

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

#: triples from which means of ranks have an interval: of fewer a few large ranks decide; and those
#: from which means of their logarithms have
_FEWEST, _OF_LOGARITHMS = 300, 30

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


def hits_at(k: int) -> Metric:
    """Return the record of Hits@k."""
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
        ratio=RatioMetric(lambda r, _: r <= k, bounds=UNIT),
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
            ratio=RatioMetric(fewest=_FEWEST),
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
            ratio=RatioMetric(lambda r, _: 1 / r, bounds=UNIT),
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
            ratio=RatioMetric(lambda r, _: np.log(r), transform=np.exp, fewest=_OF_LOGARITHMS),
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
            ratio=RatioMetric(transform=lambda mean: 1 / mean, fewest=_FEWEST),
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
            ratio=RatioMetric(lambda r, _: 1 / r, transform=lambda mean: 1 / mean, bounds=UNIT),
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
            ratio=RatioMetric(
                lambda r, _: np.log(r), transform=lambda mean: np.exp(-mean), fewest=_OF_LOGARITHMS
            ),
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
            ratio=RatioMetric(denominator=lambda _, n: (n + 1) / 2, fewest=_FEWEST),
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
                lambda r, _: r - 1, lambda _, n: (n - 1) / 2, lambda ratio: 1 - ratio, _FEWEST
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
