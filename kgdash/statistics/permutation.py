"""Permutation tests of correlations: what was found beside what values dealt anew give."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
from scipy.stats import rankdata

from kgdash.statistics.rounding import rounded

#: pairs of points of all rows beyond which Kendall's coefficient is taken of fewer rows, and least
_PAIRS, _FEWEST = 1_000_000_000, 399

#: of values that are equal but for their last bits: so small a spread, by their size, is none
_NOTHING = 1e-12


class Dealt(Protocol):
    """Values dealt anew, in blocks ``(deals, n)``: the same ones each time that they are asked."""

    def __len__(self) -> int:
        """Return the number of blocks."""

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield them."""


def dealt_p(found: np.ndarray, dealt: Iterable[np.ndarray]) -> np.ndarray:
    """Return two-sided p-values: (1 + deals that reach what was found) / (1 + deals).

    So that none is 0 (Phipson and Smyth 2010). A deal without a value counts as one that reaches
    it.

    :param found: float64, ``(k,)``
    :param dealt: the same of the values dealt anew: blocks of shape ``(deals, k)``
    :return: float64 ``(k,)`` in (0, 1]; NaN where nothing was found
    """
    size, reached, deals = np.abs(rounded(found)), np.ones(len(found)), 1
    for block in dealt:
        reached += (~(np.abs(rounded(block)) < size)).sum(axis=0)
        deals += len(block)
    return np.where(np.isfinite(size), reached / deals, np.nan)


def largest_p(found: np.ndarray, ways: Iterable[Iterable[np.ndarray]]) -> np.ndarray:
    """Return the largest `dealt_p` of several ways of dealing; NaN where there is none."""
    p_values = [dealt_p(found, dealt) for dealt in ways]
    return np.max(p_values, axis=0) if p_values else np.full(len(found), np.nan)


def coefficients(name: str, drawn: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Correlate each of many rows of values with each of several columns.

    :param name: "pearson", "spearman" or "kendall" (tau-b)
    :param drawn: float64, ``(deals, n)``
    :param columns: float64, ``(n, k)``
    :return: float64 ``(deals, k)``; NaN where one of the two is the same everywhere; for Kendall's
        of more than 1,400 points fewer deals, at least 399 of those given
    """
    if name == "kendall":
        most = 2 * _PAIRS // max(len(columns), 1) ** 2
        return _tau(drawn[: max(most, _FEWEST)], columns)
    if name == "spearman":
        drawn, columns = rankdata(drawn, axis=1), rankdata(columns, axis=0)
    return unit_rows(drawn) @ unit_rows(columns.T).T


def unit_rows(values: np.ndarray) -> np.ndarray:
    """Centre each row and divide it by its length; NaN where all its values are equal.

    :param values: float64, ``(rows, n)``
    """
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    scale = np.sqrt((values**2).sum(axis=1, keepdims=True))
    return np.asarray(centred / np.where(length > _NOTHING * scale, length, np.nan))


def _tau(drawn: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b, as `scipy.stats.kendalltau`, a point against all later ones."""
    # Ranks, as whole numbers of few bytes: their differences are cheap and have the right sign.
    ours = rankdata(drawn, method="dense", axis=1).astype(np.float32)
    theirs = rankdata(columns, method="dense", axis=0).astype(np.float32)
    shape = (len(ours), theirs.shape[1])
    together, untied, untied_columns = np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[1])
    for point in range(len(theirs) - 1):
        signs = np.clip(ours[:, point, None] - ours[:, point + 1 :], -1, 1)
        of_columns = np.sign(theirs[point] - theirs[point + 1 :])
        together += signs @ of_columns
        untied += np.count_nonzero(signs, axis=1)
        untied_columns += np.count_nonzero(of_columns, axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(together / np.sqrt(untied[:, None] * untied_columns))
