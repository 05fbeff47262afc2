"""What is left of a correlation once other columns are taken out of both sides.

The partial correlation of x and y given controls is Pearson's coefficient of the residuals of two
linear regressions on the controls; Spearman's partial coefficient is the same of all ranks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, rankdata
from scipy.stats import t as student

from kgdash.errors import KgdashError, check_name, unknown_name
from kgdash.progress import Progress, phases, silent
from kgdash.statistics.bootstrap import Bootstrap, percentile_interval, resample_counts
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.permutation import Dealt, largest_p, unit_rows
from kgdash.statistics.rounding import rounded

COEFFICIENTS = ("pearson", "spearman")

#: resamples of the bootstrap; fewer where there are many rows, whose intervals are narrow anyway
BOOTSTRAP, FEWEST_RESAMPLES = Bootstrap(), 200

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


@dataclass(frozen=True)
class Controls:
    """What may be taken out of a correlation: ``columns`` ``(n,)`` by name, and ``sets`` of them.

    ``sets``: the name of a set -> names of the columns that are taken out together; none of them
    asks for the plain correlation.

    :raises KgdashError: if a set names an unknown column
    """

    columns: Mapping[str, np.ndarray]
    sets: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for name in (name for names in self.sets.values() for name in names):
            if name not in self.columns:
                known = list(self.columns)
                raise unknown_name("control", name, known, "partial correlations")

    @property
    def places(self) -> list[list[int]]:
        """Return the columns of each set: the two that are correlated, 0 and 1, then its own."""
        known = list(self.columns)
        return [[0, 1, *(2 + known.index(name) for name in names)] for names in self.sets.values()]


def partial_correlations(
    x: np.ndarray,
    y: np.ndarray,
    controls: Controls,
    coefficient: str = "spearman",
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> list[Partial]:
    """Correlate two columns with sets of controls taken out of both by linear regression.

    With r the coefficient, r √(f / (1 − r²)) is referred to Student's t with f degrees of freedom
    (Fisher 1924), exact for normal values. Intervals are percentile bootstraps over rows (Efron
    1979), in which ranks and regressions are made anew for each resample; all sets share the
    resamples.

    :param x: shape ``(n,)``; rows that are not finite somewhere are left out
    :param y: shape ``(n,)``
    :param coefficient: "pearson" or "spearman"
    :param bootstrap: of its resamples at most 10 million rows are drawn in all, but at least 200
        resamples
    :return: one per set of controls
    :raises KgdashError: if the coefficient is unknown, or the columns differ in length
    """
    columns = [rounded(x), rounded(y), *controls.columns.values()]
    return _correlated(columns, controls.places, coefficient, bootstrap, progress)[0]


def plain_correlations(
    x: np.ndarray,
    others: Sequence[np.ndarray],
    coefficient: str = "spearman",
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
) -> tuple[list[Partial], np.ndarray]:
    """Correlate one column with each of several, as `partial_correlations` without controls.

    :param others: each of shape ``(n,)``
    :return: one per other column, and their coefficients in each resample, which they share:
        float64 ``(resamples, others)``, NaN where one is undefined
    :raises KgdashError: as `partial_correlations`
    """
    sets = [[0, place] for place in range(1, 1 + len(others))]
    return _correlated([*map(rounded, [x, *others])], sets, coefficient, bootstrap, progress)


def _correlated(
    each: Sequence[np.ndarray],
    sets: list[list[int]],
    coefficient: str,
    bootstrap: Bootstrap,
    progress: Progress,
) -> tuple[list[Partial], np.ndarray]:
    """Correlate the first two columns of each set, in all rows and in each resample."""
    check_name("coefficient", coefficient, COEFFICIENTS, "partial correlations")
    lengths = [len(column) for column in each]
    if len(set(lengths)) > 1:
        raise KgdashError(f"expected columns of one length; found {lengths} rows")
    columns = np.column_stack(each)
    columns = columns[np.isfinite(columns).all(axis=1)]
    ranked = coefficient == "spearman" and len(columns) > 0
    shown = rankdata(columns, axis=0) if ranked else columns
    points = [_of_residuals(shown[:, places]) for places in sets]
    defined = np.array([np.isfinite(value) for value, _, _ in points])
    drawn = np.full((1, len(points)), np.nan)
    if defined.any():
        most = max(FEWEST_RESAMPLES, _DRAWS // len(columns))
        fewer = replace(bootstrap, resamples=min(bootstrap.resamples, most))
        drawn = _resampled(columns, sets, ranked, fewer, progress).T
        drawn[:, ~defined] = np.nan
    ends = percentile_interval(drawn, bootstrap.level)
    return [
        Partial(value, p, float(low), float(high), len(columns), freedom)
        for (value, p, freedom), low, high in zip(points, *ends, strict=True)
    ], drawn


def partial_table(
    x: np.ndarray,
    y: np.ndarray,
    controls: Controls,
    bootstrap: Bootstrap = BOOTSTRAP,
    progress: Progress = silent,
    dealt: Sequence[Dealt] = (),
) -> pd.DataFrame:
    """Lay `partial_correlations` by both coefficients out as a table.

    :param dealt: x dealt anew, in one or several ways, where its rows are not independent
    :return: one row per coefficient ("spearman", "pearson") and set: ``coefficient``, ``controls``
        (the set's name), ``value``, ``p``, ``p_permutation`` (of `largest_p`; NaN without
        ``dealt``), ``p_holm`` (the latter, without ``dealt`` the former, corrected for the number
        of rows), ``low``, ``high`` (as `Partial`), ``rows``, ``freedom`` (int64)
    :raises KgdashError: as `partial_correlations`
    """
    rows = []
    *reports, dealing = phases(progress, [0.5, 0.2, 0.3])
    for coefficient, report in zip(reversed(COEFFICIENTS), reports, strict=True):
        partials = partial_correlations(x, y, controls, coefficient, bootstrap, report)
        rows += [
            {"coefficient": coefficient, "controls": name, **partial._asdict()}
            for name, partial in zip(controls.sets, partials, strict=True)
        ]
    table = pd.DataFrame(rows)
    ways = zip(dealt, phases(dealing, [1.0] * len(dealt)), strict=True)
    chance = (_dealt_partials(x, y, controls, way, report) for way, report in ways)
    table.insert(4, "p_permutation", largest_p(table["value"].to_numpy(), chance))
    table.insert(5, "p_holm", holm(table["p_permutation" if dealt else "p"].to_numpy()))
    progress(1.0, 1.0)
    return table


def _dealt_partials(
    x: np.ndarray, y: np.ndarray, controls: Controls, dealt: Dealt, progress: Progress
) -> Iterator[np.ndarray]:
    """Yield the coefficients of `partial_table` for x dealt anew: blocks ``(deals, rows)``."""
    columns = np.column_stack([x, rounded(y), *controls.columns.values()])
    finite = np.isfinite(columns).all(axis=1)
    columns = columns[finite]
    for done, block in enumerate(dealt, start=1):
        found = []
        for coefficient in reversed(COEFFICIENTS):
            ranked = coefficient == "spearman"
            taken = rankdata(columns, axis=0) if ranked else columns
            units = unit_rows(rankdata(block[:, finite], axis=1) if ranked else block[:, finite])
            held = unit_rows(taken[:, [1]].T)
            for places in controls.places:
                out = taken[:, places[2:]]
                found.append(_left(units, out) @ _left(held, out)[0])
        yield np.column_stack(found)
        progress(done, len(dealt))


def _left(units: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """Take controls out of rows of length 1, and bring what is left to that length again."""
    if controls.shape[1]:
        basis, sizes, _ = np.linalg.svd(_standard(controls), full_matrices=False)
        basis = basis[:, sizes > _NOTHING]
        units = units - (units @ basis) @ basis.T
    left = (units**2).sum(axis=1, keepdims=True)
    return np.asarray(units / np.sqrt(np.where(left > _NOTHING, left, np.nan)))


def _standard(columns: np.ndarray) -> np.ndarray:
    """Centre columns, and divide them by their standard deviation where they have one."""
    spread = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _of_residuals(columns: np.ndarray) -> tuple[float, float, int]:
    """Return coefficient, p-value and degrees of freedom; the first two columns are correlated."""
    if not len(columns):
        return np.nan, np.nan, 0
    centred = _standard(columns)
    both, controls = centred[:, :2], centred[:, 2:]
    fitted, _, rank, _ = np.linalg.lstsq(controls, both, rcond=None)
    residuals = both - controls @ fitted
    freedom = len(columns) - 2 - int(rank)
    left = (residuals**2).mean(axis=0)
    if freedom < 1 or (left <= _NOTHING).any():
        return np.nan, np.nan, max(freedom, 0)
    value = float(pearsonr(*residuals.T).statistic)
    with np.errstate(divide="ignore"):
        statistic = abs(value) * np.sqrt(np.float64(freedom) / (1 - min(value**2, 1.0)))
    return value, float(2 * student.sf(statistic, freedom)), freedom


def _resampled(
    columns: np.ndarray,
    sets: list[list[int]],
    ranked: bool,
    bootstrap: Bootstrap,
    progress: Progress,
) -> np.ndarray:
    """Return each set's coefficient in each resample, by weighted moments: ``(sets, resamples)``.

    :param sets: columns, the two that are correlated first
    """
    count, width = columns.shape
    centred = _standard(columns)
    rng, resamples = np.random.default_rng(bootstrap.seed), bootstrap.resamples
    coefficients = np.empty((len(sets), resamples))
    step = max(1, _BLOCK // (count * width))
    for block, weights in resample_counts(count, resamples, rng, step):
        values = _weighted_ranks(centred, weights) if ranked else centred.T[None]
        means = (values @ weights[:, :, None]) / count
        deviations = values - means
        moments = (deviations * weights[:, None, :]) @ deviations.transpose(0, 2, 1)
        for number, places in enumerate(sets):
            coefficients[number, block] = _of_moments(moments[:, places][:, :, places])
        progress(block.stop, resamples)
    return coefficients


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
