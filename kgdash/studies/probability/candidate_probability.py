"""From scores to the probability that a candidate is true: an isotonic map, and Platt's curve.

Defined in numbers.md#23-probabilities. Both are fitted on validation: its true answers against all
other candidates of its queries, each counted, none sampled. Isotonic regression: Zadrozny and
Elkan, "Transforming classifier scores into accurate multiclass probability estimates", 2002; Platt,
"Probabilistic outputs for support vector machines", 1999.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgdash.engine.softmax_kernels import gather_log_probabilities
from kgdash.engine.sweep_kernels import gather_bins
from kgdash.progress import Progress, phases, silent
from kgdash.statistics.bins import bin_edges
from kgdash.studies.probability.answer_queries import AnswerQueries, Softmax

#: bins to a unit of −log p, and bins: what is less probable than exp(−64) is in the last one
_SCALE, _BINS = 32, 2048

#: bins of scores between the least and the greatest one
_SCORES = 4096


@dataclass(frozen=True)
class IsotonicMap:
    """A non-decreasing map from log p to the probability that the candidate is true.

    ``log_p``: ascending, float64, ``(k,)``; ``probability``: in [0, 1] there; straight in between.
    """

    log_p: np.ndarray
    probability: np.ndarray

    def __call__(self, log_p: np.ndarray) -> np.ndarray:
        """Return probabilities in [0, 1] of values of log p, of any shape."""
        return np.interp(log_p, self.log_p, self.probability)


@dataclass(frozen=True)
class CandidateCounts:
    """True answers and all other candidates of queries, counted.

    ``log_p``: int64, ``(2, 2048)``: others and true answers by −log p, in bins of 1/32, the last
    one open. ``scores``: others by score, int64, ``(4096,)``, in bins between ``edges``, float64,
    ``(4097,)``; ``true``: the scores of true answers, float64, ``(n,)``.
    """

    log_p: np.ndarray
    scores: np.ndarray
    edges: np.ndarray
    true: np.ndarray


def count_candidates(
    sides: list[AnswerQueries],
    betas: list[np.ndarray],
    near: list[Softmax],
    progress: Progress = silent,
) -> CandidateCounts:
    """Count candidates by log p and by score; each counts once for each triple it competes with.

    :param sides: queries; ``betas``: of each side, each triple's β > 0, float64, ``(n,)``
    :param near: of each side, softmax at β that are near these
    """
    low, high = min(soft.low.min() for soft in near), max(soft.high.max() for soft in near)
    edges = bin_edges(np.array([low, high]), _SCORES)
    log_p, scores = np.zeros((2, _BINS), dtype=np.int64), np.zeros(_SCORES, dtype=np.int64)
    reports = phases(progress, [1.0] * len(sides))
    for side, beta, soft, report in zip(sides, betas, near, reports, strict=True):
        rows, times = side.per_row(beta), np.bincount(side.asked.row)
        starts = np.concatenate([[0], np.cumsum(times)]).astype(np.int64)
        normaliser = soft.normaliser_at(beta)
        ordered = normaliser[np.argsort(side.asked.row, kind="stable")]

        def gather(state, tile, row, rows=rows, times=times, norms=(starts, ordered)):
            gather_log_probabilities(tile, row, rows, norms, float(_SCALE), state[0])
            gather_bins(tile, row, times, edges, state[1])

        states, _ = side.visit(gather, _no_counts, report)
        log_p[0] += sum(state[0].sum(axis=0) for state in states)
        scores += sum(state[1].sum(axis=0)[:-1] for state in states)
        place = np.clip((normaliser - beta * soft.own) * _SCALE, 0, _BINS - 1).astype(np.int64)
        log_p[1] += np.bincount(place, minlength=_BINS)
    return CandidateCounts(log_p, scores, edges, np.concatenate([soft.own for soft in near]))


def _no_counts() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((4, _BINS), dtype=np.int64), np.zeros((4, _SCORES + 1), dtype=np.int64)


def fit_isotonic(counts: CandidateCounts) -> IsotonicMap:
    """Fit the map on true answers against all other candidates, by log p.

    Where all n candidates at an end are true, or none is, the map says (n + 1) / (n + 2) or
    1 / (n + 2), Platt's targets: a few answers do not make what lies beyond them certain.
    """
    from sklearn.isotonic import IsotonicRegression

    others, true = counts.log_p[:, ::-1]
    weight = others + true
    some = weight > 0
    log_p = -(np.arange(_BINS)[::-1] + 0.5) / _SCALE
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    model.fit(log_p[some], true[some] / weight[some], sample_weight=weight[some].astype(float))
    log_p_at, probability = model.X_thresholds_, model.y_thresholds_.copy()
    between = probability[(probability > 0) & (probability < 1)]
    for end, side in ((probability == 1, 1.0), (probability == 0, 0.0)):
        if end.any():
            first, last = log_p_at[end][[0, -1]]
            n = weight[some & (log_p >= first) & (log_p <= last)].sum()
            target = (1 + side * n) / (n + 2)
            probability[end] = max([target, *between]) if side else min([target, *between])
    return IsotonicMap(log_p_at, probability)


@dataclass(frozen=True)
class Logistic:
    """Platt's curve: σ(slope · score + intercept)."""

    slope: float
    intercept: float


def fit_platt(counts: CandidateCounts) -> Logistic:
    """Fit Platt's curve on the raw scores of true answers and of all other candidates.

    The others stand in the middle of their bins. Platt's targets keep the fit finite where a
    threshold parts the two.
    """
    from sklearn.linear_model import LogisticRegression

    some = counts.scores > 0
    middle = ((counts.edges[:-1] + counts.edges[1:]) / 2)[some]
    true, others = counts.true, counts.scores[some]
    scores = np.concatenate([true, middle])
    times = np.concatenate([np.ones(len(true)), others])
    target = np.repeat(
        [(len(true) + 1) / (len(true) + 2), 1 / (others.sum() + 2)], [len(true), len(others)]
    )
    mean, spread = true.mean(), np.ptp(scores) or 1.0
    standard = ((scores - mean) / spread)[:, None]
    model = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky")
    model.fit(
        np.concatenate([standard, standard]),
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([times * target, times * (1 - target)]),
    )
    slope = float(model.coef_[0, 0]) / spread
    return Logistic(slope, float(model.intercept_[0]) - slope * float(mean))
