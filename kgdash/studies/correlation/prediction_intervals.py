"""Predicting a subgraph's performance from its ReliK: a straight line, and intervals around it.

Defined in numbers.md#17-expected-performance. The values of subgraphs are means over few or many
evaluated triples, so that their scatter around the line has a part that stays, τ², and one that
shrinks with the number n of triples, σ²/n. The line weights each subgraph by 1/(τ² + σ²/n),
intervals are as wide as √(τ² + σ²/n) says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyfit
from scipy.optimize import nnls

#: subgraphs that a line is fitted to at least
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


def fit_line(sample: Sample) -> Fit:
    """Fit a straight line on log ReliK, cut to [0, 1]; a mean where ReliK is the same everywhere.

    Fitted with equal weights, and again with those that the scatter around the first line gives.
    The two variances are least squares of the squared residuals, not below 0 (Lawson and Hanson).

    :param sample: at least one subgraph
    """
    return _fit(_line, sample)


def fit_mean(sample: Sample) -> Fit:
    """Fit a mean, which knows nothing of ReliK: what the line is compared with; as `fit_line`."""
    return _fit(_mean, sample)


def _fit(curve: Callable[[Sample, np.ndarray], Curve], sample: Sample) -> Fit:
    first = _scatter(sample, curve(sample, np.ones(len(sample))))
    return _scatter(sample, curve(sample, first.deviation(sample.n) ** -2))


def _mean(sample: Sample, weights: np.ndarray) -> Curve:
    mean = float(np.average(sample.y, weights=weights))
    return lambda x: np.full(len(x), mean)


def _line(sample: Sample, weights: np.ndarray) -> Curve:
    if np.ptp(sample.x) < _FLAT:
        return _mean(sample, weights)
    line = polyfit(sample.x, sample.y, 1, w=np.sqrt(weights))
    return lambda x: np.clip(line[0] + line[1] * x, 0.0, 1.0)


def _scatter(sample: Sample, curve: Curve) -> Fit:
    squares = (sample.y - curve(sample.x)) ** 2
    squares *= len(sample) / max(len(sample) - 2, 1)
    (between, within), _ = nnls(np.column_stack([np.ones(len(sample)), 1 / sample.n]), squares)
    return Fit(curve, float(between), float(within))


def cv_plus(
    sample: Sample, x: np.ndarray, n: np.ndarray, levels: tuple[float, ...], seed: int = 0
) -> np.ndarray:
    """Return prediction intervals for the values of other subgraphs, cut to [0, 1].

    CV+ with ten folds (Barber, Candès, Ramdas and Tibshirani 2021), of residuals over their scale.

    :param sample: to learn from, at least `FEWEST`
    :param x: float64 ``(m,)``: log10 ReliK of the others
    :param n: float64 ``(m,)``: evaluated triples that their values are means over
    :param levels: each in (0, 1)
    :param seed: of the folds, ≥ 0
    :return: float64 ``(levels, m, 2)``; where there are too few subgraphs for a level, 0 to 1
    """
    count = len(sample)
    fold = np.random.default_rng(seed).permutation(count) % min(_FOLDS, count)
    lows, highs = np.empty((count, len(x))), np.empty((count, len(x)))
    for number in np.unique(fold):
        out = fold == number
        line, rest = fit_line(sample.part(~out)), sample.part(out)
        scores = np.abs(rest.y - line.curve(rest.x)) / line.deviation(rest.n)
        wide = scores[:, None] * line.deviation(n)
        lows[out], highs[out] = line.curve(x) - wide, line.curve(x) + wide
    lows, highs = np.sort(lows, axis=0), np.sort(highs, axis=0)
    ends = np.empty((len(levels), len(x), 2))
    for row, level in enumerate(levels):
        place = int(np.ceil((count + 1) * level))
        ends[row, :, 0] = lows[count - place] if place <= count else -np.inf
        ends[row, :, 1] = highs[place - 1] if place <= count else np.inf
    return np.clip(ends, 0.0, 1.0)
