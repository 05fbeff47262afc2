"""What is left of a correlation once other columns are taken out of both sides.

The partial correlation of x and y given controls is Pearson's coefficient of the residuals of two
linear regressions on the controls; Spearman's partial coefficient is the same of all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, rankdata
from scipy.stats import t as student

from kgdash.errors import KgdashError, unknown_name
from kgdash.progress import Progress, phases, silent
from kgdash.statistics.bootstrap import check_level
from kgdash.statistics.multiple_testing import holm

COEFFICIENTS = ("pearson", "spearman")

#: resamples of the bootstrap; fewer where there are many rows, whose intervals are narrow anyway
RESAMPLES, FEWEST_RESAMPLES = 1000, 200

#: rows times resamples beyond which fewer are drawn
_DRAWS = 10_000_000

#: numbers in a block of resamples
_BLOCK = 4_000_000

#: a column of which so small a share of the variance is left is taken to be explained away
_NOTHING = 1e-10


class Partial(NamedTuple):
    """A correlation with controls taken out.

    ``value`` in [−1, 1], ``p`` two-sided, ``low`` and ``high`` the ends of its interval: NaN where
    one of the two is the same everywhere once the controls are out, or rows are too few. ``rows``
    is the number of rows, ``freedom`` the degrees of freedom: rows − 2 − independent controls.
    """

    value: float
    p: float
    low: float
    high: float
    rows: int
    freedom: int


def partial_correlations(
    x: np.ndarray,
    y: np.ndarray,
    controls: Mapping[str, np.ndarray],
    sets: Sequence[tuple[str, ...]],
    coefficient: str = "spearman",
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> list[Partial]:
    """Correlate two columns with sets of controls taken out of both by linear regression.

    With r the coefficient, r √(f / (1 − r²)) is referred to Student's t with f degrees of freedom
    (Fisher 1924), exact for normal values. Intervals are percentile bootstraps over rows (Efron
    1979), in which ranks and regressions are made anew for each resample; all sets share the
    resamples.

    :param x: shape ``(n,)``; rows that are not finite somewhere are left out
    :param y: shape ``(n,)``
    :param controls: columns of shape ``(n,)`` by name
    :param sets: names of what is taken out together; an empty one asks for the plain correlation
    :param coefficient: "pearson" or "spearman"
    :param level: of the intervals, in (0, 1)
    :param seed: of the bootstrap, ≥ 0
    :param resamples: of the bootstrap; at most 10 million rows are drawn in all, but at least 200
        resamples
    :param progress: called with (done, total); may raise to cancel
    :return: one per set
    :raises KgdashError: if the coefficient or a control is unknown, the level out of range, or the
        columns differ in length
    """
    check_level(level)
    if coefficient not in COEFFICIENTS:
        raise unknown_name("coefficient", coefficient, COEFFICIENTS, "partial correlations")
    lengths = [len(x), len(y), *(len(column) for column in controls.values())]
    if len(set(lengths)) > 1:
        raise KgdashError(f"expected columns of one length; found {lengths} rows")
    columns = np.column_stack([x, y, *controls.values()]).astype(np.float64)
    columns = columns[np.isfinite(columns).all(axis=1)]
    ranked = coefficient == "spearman" and len(columns) > 0
    shown = rankdata(columns, axis=0) if ranked else columns
    chosen = [_places(names, controls) for names in sets]
    points = [_of_residuals(shown[:, places]) for places in chosen]
    drawn = np.full((len(sets), 0), np.nan)
    if any(np.isfinite(value) for value, _, _ in points):
        fewer = max(FEWEST_RESAMPLES, _DRAWS // len(columns))
        drawn = _resampled(columns, chosen, ranked, seed, min(resamples, fewer), progress)
    found = []
    for (value, p, freedom), values in zip(points, drawn, strict=True):
        low, high = _quantiles(values, level) if np.isfinite(value) else (np.nan, np.nan)
        found.append(Partial(value, p, low, high, len(columns), freedom))
    return found


def partial_table(
    x: np.ndarray,
    y: np.ndarray,
    controls: Mapping[str, np.ndarray],
    sets: Mapping[str, tuple[str, ...]],
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Lay `partial_correlations` by both coefficients out as a table.

    :param sets: names of the controls that are taken out together, by the name of the set
    :return: one row per coefficient ("spearman", "pearson") and set: ``coefficient``, ``controls``
        (the set's name), ``value``, ``p``, ``p_holm`` (corrected for the number of rows), ``low``,
        ``high`` (as `Partial`), ``rows``, ``freedom`` (int64)
    :raises KgdashError: as `partial_correlations`
    """
    rows = []
    for coefficient, report in zip(
        reversed(COEFFICIENTS), phases(progress, [0.75, 0.25]), strict=True
    ):
        found = partial_correlations(
            x, y, controls, list(sets.values()), coefficient, level, seed, resamples, report
        )
        rows += [
            {"coefficient": coefficient, "controls": name, **partial._asdict()}
            for name, partial in zip(sets, found, strict=True)
        ]
    table = pd.DataFrame(rows)
    table.insert(4, "p_holm", holm(table["p"].to_numpy()))
    return table


def _places(names: tuple[str, ...], controls: Mapping[str, np.ndarray]) -> list[int]:
    """Return the columns of a set: the two that are correlated, then its controls."""
    known = list(controls)
    for name in names:
        if name not in controls:
            raise unknown_name("control", name, known, "partial correlations")
    return [0, 1, *(2 + known.index(name) for name in names)]


def _of_residuals(columns: np.ndarray) -> tuple[float, float, int]:
    """Return coefficient, p-value and degrees of freedom; the first two columns are correlated."""
    if not len(columns):
        return np.nan, np.nan, 0
    spread = columns.std(axis=0)
    centred = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    both, controls = centred[:, :2], centred[:, 2:]
    fitted, _, rank, _ = np.linalg.lstsq(controls, both, rcond=None)
    residuals = both - controls @ fitted
    freedom = len(columns) - 2 - int(rank)
    left = (residuals**2).mean(axis=0)
    if freedom < 1 or (left <= _NOTHING).any():
        return np.nan, np.nan, max(freedom, 0)
    value = float(pearsonr(*residuals.T).statistic)
    with np.errstate(divide="ignore"):
        statistic = abs(value) * np.sqrt(freedom / (1 - min(value**2, 1.0)))
    return value, float(2 * student.sf(statistic, freedom)), freedom


def _quantiles(values: np.ndarray, level: float) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled(
    columns: np.ndarray,
    sets: list[list[int]],
    ranked: bool,
    seed: int,
    resamples: int,
    progress: Progress,
) -> np.ndarray:
    """Return each set's coefficient in each resample, by weighted moments: ``(sets, resamples)``.

    :param sets: columns, the two that are correlated first
    """
    count, width = columns.shape
    spread = columns.std(axis=0)
    centred = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    found = np.empty((len(sets), resamples))
    for block, weights in _draws(count, width, seed, resamples):
        values = _weighted_ranks(centred, weights) if ranked else centred.T[None]
        means = (values @ weights[:, :, None]) / count
        deviations = values - means
        moments = (deviations * weights[:, None, :]) @ deviations.transpose(0, 2, 1)
        for number, places in enumerate(sets):
            found[number, block] = _of_moments(moments[:, places][:, :, places])
        progress(block.stop, resamples)
    return found


def _draws(count: int, width: int, seed: int, resamples: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of resamples: how often each row was drawn, ``(block, rows)``."""
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // (count * width))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(0, count, size=(size, count))
        drawn += np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield slice(start, start + size), times.astype(np.float64)


def _weighted_ranks(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rank each column in each resample, ties by their mean: ``(resamples, columns, rows)``.

    A row drawn w times stands for w equal values. Ranks of rows that were not drawn mean nothing;
    their weight is 0.
    """
    ranks = np.empty((len(weights), columns.shape[1], len(columns)))
    for number, column in enumerate(columns.T):
        order = np.argsort(column, kind="stable")
        _, starts, group = np.unique(column[order], return_index=True, return_inverse=True)
        times = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(times, axis=1) - times / 2 + 0.5
        ranks[:, number, order] = middle[:, group]
    return ranks


def _of_moments(moments: np.ndarray) -> np.ndarray:
    """Turn matrices of second moments, the correlated two first, into partial correlations."""
    scale = np.sqrt(np.einsum("bii->bi", moments))
    scale = np.where(scale > 0, scale, 1.0)
    moments = moments / scale[:, :, None] / scale[:, None, :]
    both, across, controls = moments[:, :2, :2], moments[:, :2, 2:], moments[:, 2:, 2:]
    if controls.shape[1]:
        inverse = np.linalg.pinv(controls, hermitian=True)
        both = both - across @ inverse @ across.transpose(0, 2, 1)
    left = np.einsum("bii->bi", both)
    left = np.where(left > _NOTHING, left, np.nan)
    return both[:, 0, 1] / np.sqrt(left.prod(axis=1))
