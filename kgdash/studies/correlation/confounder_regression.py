"""A regression of ReliK on all factors at once, and the share of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.statistics.bootstrap import check_level
from kgdash.statistics.multiple_testing import holm
from kgdash.studies.correlation.confounders import CLASSES, log_count

#: counts that stand for themselves: the degree of both ends together follows from each
REGRESSED = ("head_degree", "tail_degree", "frequency")

#: triples of classes with fewer are left out: such a class fits itself
FEWEST = 10

#: a column is a combination of others if so small a share of it is left
_NOTHING = 1e-8


@dataclass(frozen=True)
class Regression:
    """Ordinary least squares of log₁₀ ReliK on standardised log₁₀(1 + count) and classes.

    ``coefficients``: one row per term: ``factor``, ``term`` (str: the factor, or the class),
    ``estimate`` (change of log₁₀ ReliK per standard deviation of the logarithm, or against the
    reference class), ``error``, ``low``, ``high``, ``p`` (heteroscedasticity-consistent, HC3,
    MacKinnon and White 1985), ``p_holm`` (corrected for the number of terms); NaN where the term
    is the same everywhere or follows from those before.

    ``shares``: one row per factor: ``factor``, ``drop_in_r_squared`` (R² less R² without the
    factor: what it alone accounts for), ``alone_r_squared`` (R² of the factor alone), ``terms``
    (int64).

    ``r_squared``, ``adjusted_r_squared``: of all factors together. ``triples`` behind the fit,
    ``left_out`` of classes with fewer than 10. ``references``: factor -> its reference class.
    """

    coefficients: pd.DataFrame
    shares: pd.DataFrame
    r_squared: float
    adjusted_r_squared: float
    triples: int
    left_out: int
    references: dict[str, str]


def regression(table: pd.DataFrame, level: float = 0.95) -> Regression:
    """Regress log₁₀ ReliK on degree, frequency, cardinality and pattern, by statsmodels.

    :param table: of `kgdash.studies.correlation.confounders.triple_factors`
    :param level: of the intervals, in (0, 1)
    :raises KgdashError: if the level is out of range, there are fewer triples than terms, or ReliK
        is the same everywhere
    """
    check_level(level)
    kept = np.ones(len(table), dtype=bool)
    for factor in CLASSES:
        times = table[factor].map(table[factor].value_counts()).to_numpy(dtype=np.int64)
        kept &= times >= FEWEST
    rows = table[kept]
    log_relik = np.log10(rows["relik"].to_numpy())
    terms, columns, references = _design(rows)
    if len(rows) <= columns.shape[1] + 2 or np.ptp(log_relik) == 0:
        raise KgdashError(
            "expected more triples than terms, and triples that differ in ReliK; found "
            f"{len(rows):,} triples in classes of at least {FEWEST} for {len(terms)} terms. Choose "
            "a larger split"
        )
    independent = _independent(columns)
    fit = _fit(log_relik, columns[:, independent], robust=True)
    terms["estimate"] = terms["error"] = terms["low"] = terms["high"] = terms["p"] = np.nan
    terms.loc[independent, "estimate"] = fit.params[1:]
    terms.loc[independent, "error"] = fit.bse[1:]
    terms.loc[independent, ["low", "high"]] = fit.conf_int(1 - level)[1:]
    terms.loc[independent, "p"] = fit.pvalues[1:]
    terms["p_holm"] = holm(terms["p"].to_numpy())
    return Regression(
        terms,
        _shares(log_relik, columns, terms["factor"].to_numpy(), float(fit.rsquared)),
        float(fit.rsquared),
        float(fit.rsquared_adj),
        len(rows),
        int((~kept).sum()),
        references,
    )


def _design(rows: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, dict[str, str]]:
    """Return (factor, term) of the columns, the columns ``(n, terms)``, and reference classes."""
    terms: list[tuple[str, str]] = []
    columns: list[np.ndarray] = []
    references = {}
    for factor in REGRESSED:
        logs = log_count(rows[factor].to_numpy())
        spread = logs.std() if len(logs) else 0.0
        terms.append((factor, factor))
        columns.append((logs - logs.mean()) / spread if spread > 0 else np.zeros(len(rows)))
    for factor in CLASSES:
        times = rows[factor].value_counts(sort=False)
        present = [str(name) for name in times.index[times > 0]]
        if not present:
            continue
        references[factor] = str(times.idxmax())
        for name in present:
            if name != references[factor]:
                terms.append((factor, name))
                columns.append((rows[factor] == name).to_numpy(dtype=np.float64))
    return pd.DataFrame(terms, columns=["factor", "term"]), np.column_stack(columns), references


def _independent(columns: np.ndarray) -> np.ndarray:
    """Return the columns that do not follow from those before and a constant: int64."""
    kept: list[int] = []
    base = np.ones((len(columns), 1))
    for number in range(columns.shape[1]):
        column = columns[:, number]
        fitted = base @ np.linalg.lstsq(base, column, rcond=None)[0]
        if np.linalg.norm(column - fitted) > _NOTHING * max(float(np.linalg.norm(column)), 1.0):
            kept.append(number)
            base = np.column_stack([base, column])
    return np.array(kept, dtype=np.int64)


def _shares(
    log_relik: np.ndarray, columns: np.ndarray, factors: np.ndarray, whole: float
) -> pd.DataFrame:
    rows = []
    for factor in dict.fromkeys(factors):
        own = factors == factor
        without, alone = (_r_squared(log_relik, columns[:, which]) for which in (~own, own))
        rows.append((factor, whole - without, alone, int(own.sum())))
    return pd.DataFrame(rows, columns=["factor", "drop_in_r_squared", "alone_r_squared", "terms"])


def _r_squared(log_relik: np.ndarray, columns: np.ndarray) -> float:
    return float(_fit(log_relik, columns[:, _independent(columns)]).rsquared)


def _fit(log_relik: np.ndarray, columns: np.ndarray, robust: bool = False) -> Any:
    # Here, since statsmodels takes a second to import.
    from statsmodels.regression.linear_model import OLS

    design = np.column_stack([np.ones(len(columns)), columns])
    return OLS(log_relik, design).fit(cov_type="HC3" if robust else "nonrobust", use_t=True)
