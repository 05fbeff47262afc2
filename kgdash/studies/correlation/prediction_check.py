"""How well subgraphs are predicted that were not learnt from: repeated cross-validation.

Defined in numbers.md#17-expected-performance.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.progress import Progress, phases
from kgdash.statistics.rounding import excess
from kgdash.studies.correlation.prediction_intervals import (
    FEWEST,
    Sample,
    cv_plus,
    fit_line,
    fit_mean,
)

#: what a subgraph is predicted from: all of the other folds, which may overlap it, or all others
#: that share none of its evaluated triples
SCHEMES = ("overlapping", "disjoint")

#: by name of the curve; "mean" knows nothing of ReliK
_FITS = {"linear": fit_line, "mean": fit_mean}

_FOLDS, _REPEATS = 10, 3


@dataclass(frozen=True)
class Predictions:
    """What one scheme of the check predicted: NaN where a subgraph could not be.

    ``values``: curve → ``(repeats, n)``; ``ends`` of the line's intervals: ``(repeats, levels, n,
    2)``. Only the scheme "overlapping" has several repeats.
    """

    values: dict[str, np.ndarray]
    ends: np.ndarray


@dataclass(frozen=True)
class Check:
    """Ten folds of subgraphs, three times over; and each one from those disjoint from it.

    ``disjoint``: bool ``(n, n)``: which subgraphs share no evaluated triple; None: not to be asked.
    """

    sample: Sample
    disjoint: np.ndarray | None
    levels: tuple[float, ...]
    seed: int

    def run(self, progress: Progress) -> dict[str, Predictions]:
        """Predict every subgraph from others, in each scheme and repeat."""
        n, repeats = len(self.sample), {"overlapping": _REPEATS, "disjoint": 1}
        schemes = SCHEMES if self.disjoint is not None else SCHEMES[:1]
        predictions = {
            scheme: Predictions(
                {curve: np.full((repeats[scheme], n), np.nan) for curve in _FITS},
                np.full((repeats[scheme], len(self.levels), n, 2), np.nan),
            )
            for scheme in schemes
        }
        rng = np.random.default_rng(self.seed)
        folding, leaving = phases(progress, [_REPEATS * _FOLDS, n if len(schemes) > 1 else 1e-9])
        for repeat in range(_REPEATS):
            fold = rng.permutation(n) % min(_FOLDS, n)
            for number in range(min(_FOLDS, n)):
                out = fold == number
                self._predict(predictions["overlapping"], repeat, ~out, np.flatnonzero(out))
                folding(repeat * _FOLDS + number + 1, _REPEATS * _FOLDS)
        if self.disjoint is not None:
            for row in range(n):
                others = self.disjoint[row] & (np.arange(n) != row)
                if others.sum() >= FEWEST:
                    self._predict(predictions["disjoint"], 0, others, np.array([row]))
                leaving(row + 1, n)
        return predictions

    def _predict(
        self, predictions: Predictions, repeat: int, known: np.ndarray, rows: np.ndarray
    ) -> None:
        sample, x, n = self.sample.part(known), self.sample.x[rows], self.sample.n[rows]
        for name, fit in _FITS.items():
            predictions.values[name][repeat, rows] = fit(sample).curve(x)
        predictions.ends[repeat][:, rows] = cv_plus(sample, x, n, self.levels, self.seed)


def errors_of(predictions: dict[str, Predictions], sample: Sample) -> pd.DataFrame:
    """Return MAE, RMSE and R² per scheme and curve: ``errors`` of a prediction.

    :param predictions: by scheme
    :param sample: that was checked
    """
    rows = []
    for scheme, predicted in predictions.items():
        there = np.isfinite(predicted.values["mean"]).all(axis=0)
        base = (excess(predicted.values["mean"], sample.y) ** 2)[:, there].sum()
        for name, values in predicted.values.items():
            wrong = (values - sample.y)[:, there]
            rows.append(
                {
                    "scheme": scheme,
                    "curve": name,
                    "subgraphs": int(there.sum()),
                    "mae": np.abs(wrong).mean() if wrong.size else np.nan,
                    "rmse": np.sqrt((wrong**2).mean()) if wrong.size else np.nan,
                    "r2": 1 - (wrong**2).sum() / base if base > 0 else np.nan,
                }
            )
    return pd.DataFrame(rows)


def coverage_of(
    predictions: dict[str, Predictions], sample: Sample, levels: tuple[float, ...]
) -> pd.DataFrame:
    """Return how often intervals held, and their width: ``coverage`` of a prediction.

    :param predictions: by scheme
    :param sample: that was checked
    :param levels: of the intervals
    """
    # Here, since statsmodels takes a second to import.
    from statsmodels.stats.proportion import proportion_confint

    rows = []
    for scheme, predicted in predictions.items():
        there = np.isfinite(predicted.ends).all(axis=(0, 1, 3))
        count = int(there.sum())
        for number, level in enumerate(levels):
            ends = predicted.ends[:, number, there]
            inside = (ends[..., 0] <= sample.y[there]) & (sample.y[there] <= ends[..., 1])
            share = inside.mean() if count else np.nan
            low, high = np.nan, np.nan
            if count:
                low, high = proportion_confint(round(share * count), count, method="beta")
            rows.append(
                {
                    "scheme": scheme,
                    "level": level,
                    "subgraphs": count,
                    "covered": share,
                    "covered_low": low,
                    "covered_high": high,
                    "width": (ends[..., 1] - ends[..., 0]).mean() if count else np.nan,
                }
            )
    return pd.DataFrame(rows)
