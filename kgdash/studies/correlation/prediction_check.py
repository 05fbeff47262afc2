"""How well subgraphs are predicted that were not learnt from: repeated cross-validation.

Defined in numbers.md#17-prognosis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.progress import Progress, phases
from kgdash.studies.correlation.prediction_curves import (
    CURVES,
    FEWEST,
    INTERVALS,
    Sample,
    fit,
    interval,
)

#: who a subgraph is predicted from: all of the other folds, or all others that share none of its
#: evaluated triples
SCHEMES = ("any", "apart")

_FOLDS, _REPEATS = 10, 3


@dataclass(frozen=True)
class Found:
    """What the check predicted: NaN where a subgraph could not be.

    ``predicted``: scheme → curve → ``(repeats, n)``; ``ends``: scheme → interval →
    ``(repeats, levels, n, 2)``. Only the scheme "any" has several repeats.
    """

    predicted: dict[str, dict[str, np.ndarray]]
    ends: dict[str, dict[str, np.ndarray]]


@dataclass(frozen=True)
class Check:
    """Ten folds of subgraphs, three times over; and each one from those apart from it.

    ``apart``: bool ``(n, n)``: which subgraphs share no evaluated triple; None: not to be asked.
    """

    sample: Sample
    apart: np.ndarray | None
    curve: str
    levels: tuple[float, ...]
    seed: int

    def run(self, progress: Progress) -> Found:
        """Predict every subgraph from others, in each scheme and repeat."""
        n, of = len(self.sample), {"any": _REPEATS, "apart": 1}
        schemes = SCHEMES if self.apart is not None else SCHEMES[:1]
        shape = (len(self.levels), n, 2)
        found = Found(
            {s: {c: np.full((of[s], n), np.nan) for c in CURVES} for s in schemes},
            {s: {i: np.full((of[s], *shape), np.nan) for i in INTERVALS} for s in schemes},
        )
        rng = np.random.default_rng(self.seed)
        folding, leaving = phases(progress, [_REPEATS * _FOLDS, n if len(schemes) > 1 else 1e-9])
        for repeat in range(_REPEATS):
            fold = rng.permutation(n) % min(_FOLDS, n)
            for number in range(min(_FOLDS, n)):
                out = fold == number
                self._predict(found, "any", repeat, ~out, np.flatnonzero(out))
                folding(repeat * _FOLDS + number + 1, _REPEATS * _FOLDS)
        if self.apart is not None:
            for row in range(n):
                kept = self.apart[row] & (np.arange(n) != row)
                if kept.sum() >= FEWEST:
                    self._predict(found, "apart", 0, kept, np.array([row]))
                leaving(row + 1, n)
        return found

    def _predict(
        self, found: Found, scheme: str, repeat: int, known: np.ndarray, rows: np.ndarray
    ) -> None:
        sample, x, n = self.sample.part(known), self.sample.x[rows], self.sample.n[rows]
        for name in CURVES:
            found.predicted[scheme][name][repeat, rows] = fit(name, sample).curve(x)
        for name in INTERVALS:
            ends = interval(name, self.curve, sample, x, n, self.levels, self.seed)
            found.ends[scheme][name][repeat][:, rows] = ends


def errors_of(found: Found, sample: Sample) -> pd.DataFrame:
    """Return MAE, RMSE and R² per scheme and curve: ``errors`` of a prognosis.

    :param sample: that was checked
    """
    rows = []
    for scheme, curves in found.predicted.items():
        there = np.isfinite(curves["mean"][0])
        for repeat in curves["mean"]:
            there &= np.isfinite(repeat)
        base = ((curves["mean"] - sample.y) ** 2)[:, there].sum()
        for name, predicted in curves.items():
            wrong = (predicted - sample.y)[:, there]
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


def coverage_of(found: Found, sample: Sample, levels: tuple[float, ...]) -> pd.DataFrame:
    """Return how often intervals held, and their width: ``coverage`` of a prognosis.

    :param sample: that was checked
    :param levels: of the intervals
    """
    # Here, since statsmodels takes a second to import.
    from statsmodels.stats.proportion import proportion_confint

    rows = []
    for scheme, kinds in found.ends.items():
        for kind, ends in kinds.items():
            there = np.isfinite(ends).all(axis=(0, 1, 3))
            count = int(there.sum())
            for number, level in enumerate(levels):
                own = ends[:, number, there]
                inside = (own[..., 0] <= sample.y[there]) & (sample.y[there] <= own[..., 1])
                share = inside.mean() if count else np.nan
                low, high = np.nan, np.nan
                if count:
                    low, high = proportion_confint(round(share * count), count, method="beta")
                rows.append(
                    {
                        "scheme": scheme,
                        "interval": kind,
                        "level": level,
                        "subgraphs": count,
                        "covered": share,
                        "covered_low": low,
                        "covered_high": high,
                        "width": (own[..., 1] - own[..., 0]).mean() if count else np.nan,
                    }
                )
    return pd.DataFrame(rows)
