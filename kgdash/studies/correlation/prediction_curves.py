"""Predicting a subgraph's performance from its ReliK: curves, and intervals around them.

Defined in numbers.md#17-prognosis.

The values of subgraphs are means over few or many evaluated triples, so that their scatter around
the curve has a part that stays, τ², and one that shrinks with the number n of triples, σ²/n. Curves
weight each subgraph by 1/(τ² + σ²/n), intervals are as wide as √(τ² + σ²/n) says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyfit
from scipy.optimize import isotonic_regression, nnls
from scipy.stats import t as student

#: curve -> what it is; "mean" knows nothing of ReliK and is what the others are held against
CURVES = {
    "linear": "a straight line on log ReliK",
    "isotonic": "the best curve that never falls",
    "mean": "the mean of the training subgraphs",
}

#: interval -> source
INTERVALS = {
    "cv+": "CV+ with ten folds (Barber, Candès, Ramdas and Tibshirani 2021)",
    "split": "split conformal (Lei, G'Sell, Rinaldo, Tibshirani and Wasserman 2018)",
    "normal": "normal theory, weighted least squares; around a straight line only",
}

#: subgraphs that a curve is fitted to at least
FEWEST = 10

_FOLDS = 10
_FLAT = 1e-9

Curve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Sample:
    """Subgraphs to learn from: ``x`` log10 ReliK, ``y`` values in [0, 1], ``n`` evaluated triples.

    All float64 and of one length.
    """

    x: np.ndarray
    y: np.ndarray
    n: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def part(self, rows: np.ndarray) -> Sample:
        """Return some of the subgraphs, by a mask or by numbers."""
        return Sample(self.x[rows], self.y[rows], self.n[rows])


@dataclass(frozen=True)
class Fit:
    """A curve and the scatter around it: variance ``between`` + ``within`` / n."""

    curve: Curve
    between: float
    within: float

    def deviation(self, n: np.ndarray) -> np.ndarray:
        """Return the standard deviation of values that are means over n evaluated triples."""
        return np.sqrt(np.maximum(self.between + self.within / np.asarray(n, float), _FLAT))


def fit(curve: str, sample: Sample) -> Fit:
    """Fit a curve with equal weights, take the scatter around it, and fit again with weights.

    The two variances are least squares of the squared residuals, not below 0 (Lawson and Hanson).

    :param curve: of `CURVES`
    :param sample: at least one subgraph
    """
    first = _scatter(sample, _curve(curve, sample, np.ones(len(sample))))
    return _scatter(sample, _curve(curve, sample, first.deviation(sample.n) ** -2))


def interval(
    kind: str,
    curve: str,
    sample: Sample,
    x: np.ndarray,
    n: np.ndarray,
    levels: tuple[float, ...],
    seed: int = 0,
) -> np.ndarray:
    """Return prediction intervals for the values of other subgraphs, cut to [0, 1].

    :param kind: of `INTERVALS`; "normal" is around the straight line whatever the curve
    :param curve: of `CURVES`
    :param sample: to learn from, at least `FEWEST`
    :param x: float64 ``(m,)``: log10 ReliK of the others
    :param n: float64 ``(m,)``: evaluated triples that their values are means over
    :param levels: each in (0, 1)
    :param seed: of the folds, ≥ 0
    :return: float64 ``(levels, m, 2)``; where there are too few subgraphs for a level, 0 to 1
    """
    work = {"normal": _normal, "split": _split, "cv+": _cv_plus}[kind]
    return np.clip(work(curve, sample, x, n, levels, np.random.default_rng(seed)), 0.0, 1.0)


def _curve(curve: str, sample: Sample, weights: np.ndarray) -> Curve:
    if curve == "mean" or np.ptp(sample.x) < _FLAT:
        mean = float(np.average(sample.y, weights=weights))
        return lambda x: np.full(len(x), mean)
    if curve == "isotonic":
        places, at = np.unique(sample.x, return_inverse=True)
        together = np.bincount(at, weights)
        means = np.bincount(at, weights * sample.y) / together
        steps = isotonic_regression(means, weights=together).x
        return lambda x: np.interp(x, places, steps)
    line = polyfit(sample.x, sample.y, 1, w=np.sqrt(weights))
    return lambda x: np.clip(line[0] + line[1] * x, 0.0, 1.0)


def _scatter(sample: Sample, curve: Curve) -> Fit:
    squares = (sample.y - curve(sample.x)) ** 2
    squares *= len(sample) / max(len(sample) - 2, 1)
    (between, within), _ = nnls(np.column_stack([np.ones(len(sample)), 1 / sample.n]), squares)
    return Fit(curve, float(between), float(within))


def _normal(
    curve: str,
    sample: Sample,
    x: np.ndarray,
    n: np.ndarray,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    # Here, since statsmodels takes a second to import.
    from statsmodels.regression.linear_model import WLS

    scatter = fit("linear", sample)
    flat = np.ptp(sample.x) < _FLAT
    known, new = (
        np.ones((len(v), 1)) if flat else np.column_stack([np.ones(len(v)), v])
        for v in (sample.x, x)
    )
    found = WLS(sample.y, known, weights=scatter.deviation(sample.n) ** -2).fit()
    # Not by its weights of new values: statsmodels 0.15 refuses them for two values at a time.
    predicted = found.get_prediction(new)
    errors = np.sqrt(predicted.var_pred_mean + found.scale * scatter.deviation(n) ** 2)
    reach = student.ppf((1 + np.asarray(levels)) / 2, found.df_resid)[:, None] * errors
    middle = predicted.predicted_mean
    return np.stack([middle - reach, middle + reach], axis=-1)


def _split(
    curve: str,
    sample: Sample,
    x: np.ndarray,
    n: np.ndarray,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    order = rng.permutation(len(sample))
    half = len(order) // 2
    found, rest = fit(curve, sample.part(order[:half])), sample.part(order[half:])
    scores = np.sort(np.abs(rest.y - found.curve(rest.x)) / found.deviation(rest.n))
    places = np.ceil((len(scores) + 1) * np.asarray(levels)).astype(int) - 1
    reach = np.append(scores, np.inf)[np.minimum(places, len(scores))]
    middle, wide = found.curve(x), reach[:, None] * found.deviation(n)
    return np.stack([middle - wide, middle + wide], axis=-1)


def _cv_plus(
    curve: str,
    sample: Sample,
    x: np.ndarray,
    n: np.ndarray,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> np.ndarray:
    count = len(sample)
    fold = rng.permutation(count) % min(_FOLDS, count)
    lows, highs = np.empty((count, len(x))), np.empty((count, len(x)))
    for number in np.unique(fold):
        out = fold == number
        found, rest = fit(curve, sample.part(~out)), sample.part(out)
        scores = np.abs(rest.y - found.curve(rest.x)) / found.deviation(rest.n)
        wide = scores[:, None] * found.deviation(n)
        lows[out], highs[out] = found.curve(x) - wide, found.curve(x) + wide
    lows, highs = np.sort(lows, axis=0), np.sort(highs, axis=0)
    ends = np.empty((len(levels), len(x), 2))
    for row, level in enumerate(levels):
        place = int(np.ceil((count + 1) * level))
        ends[row, :, 0] = lows[count - place] if place <= count else -np.inf
        ends[row, :, 1] = highs[place - 1] if place <= count else np.inf
    return ends
