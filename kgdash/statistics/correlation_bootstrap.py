"""Bootstrap intervals of correlations: one sample resampled once, held against many others."""

import warnings
from functools import cached_property

import numpy as np
from scipy.stats import pearsonr, rankdata

from kgdash.statistics.bootstrap import Bootstrap, percentile_interval, times_drawn


class Resamples:
    """Pairs (x, y) drawn with replacement, for one x and any y.

    :param x: float64, shape ``(n,)``
    :param bootstrap: how many, by which seed, and the level of the intervals
    """

    def __init__(self, x: np.ndarray, bootstrap: Bootstrap) -> None:
        self.x, self.bootstrap = x, bootstrap
        rng = np.random.default_rng(bootstrap.seed)
        self.drawn = rng.integers(0, max(len(x), 1), size=(bootstrap.resamples, len(x)))

    def interval(self, name: str, y: np.ndarray) -> tuple[float, float]:
        """Return the percentile interval of a coefficient; NaN where no resample has one.

        :param name: "pearson", "spearman" or "kendall"
        :param y: float64, shape ``(n,)``
        """
        low, high = percentile_interval(self.coefficients(name, y), self.bootstrap.level)
        return float(low), float(high)

    def coefficients(self, name: str, y: np.ndarray) -> np.ndarray:
        """Return the coefficient of each resample: float64 ``(resamples,)``; NaN if undefined."""
        if name == "kendall":
            return self._tau(y)
        drawn = y[self.drawn]
        # Spearman's coefficient is Pearson's of the ranks.
        pair = (
            (self._values, drawn) if name == "pearson" else (self._ranks, rankdata(drawn, axis=1))
        )
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore")
            return np.asarray(pearsonr(*pair, axis=1).statistic)

    @cached_property
    def _values(self) -> np.ndarray:
        return self.x[self.drawn]

    @cached_property
    def _ranks(self) -> np.ndarray:
        return np.asarray(rankdata(self._values, axis=1))

    @cached_property
    def _times(self) -> np.ndarray:
        """How often each pair was drawn: ``(resamples, n)``."""
        return times_drawn(self.drawn)

    @cached_property
    def _signs(self) -> np.ndarray:
        return np.sign(self.x[:, None] - self.x)

    @cached_property
    def _untied(self) -> np.ndarray:
        return self._weighted(np.abs(self._signs))

    def _weighted(self, of_pairs: np.ndarray) -> np.ndarray:
        """Sum a value per pair of pairs ``(n, n)`` over each resample."""
        return np.asarray(((self._times @ of_pairs) * self._times).sum(axis=1))

    def _tau(self, y: np.ndarray) -> np.ndarray:
        """Return Kendall's tau-b of each resample.

        As `scipy.stats.kendalltau`, which takes a call per resample and thereby seconds: with w the
        times that each point was drawn and S the signs of all differences, Σ w Sx Sy w / √(…).
        """
        signs = np.sign(y[:, None] - y)
        together = self._weighted(self._signs * signs)
        untied = self._weighted(np.abs(signs))
        with np.errstate(divide="ignore", invalid="ignore"):
            return together / np.sqrt(self._untied * untied)
