"""The mean ReliK of a set of triples while it is still being counted.

Defined in numbers.md#4-relik. Heads and tails are counted exactly, in random order, so that those
done are a random sample of clusters of triples. The mean of 1/rank_H over the triples whose head
is not counted yet is estimated by that over the triples whose head was drawn and counted, a ratio
of two sums; likewise for tails. What is counted enters exactly, so that the estimate ends at the
exact mean. Its bias is of order one over the number of entities drawn (Cochran, Sampling
Techniques, 1977, chapter 6).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.files.row_table import MISSING
from kgdash.ranking.relik import relik_of_ranks, relik_values
from kgdash.ranking.relik_table import Anchors
from kgdash.scoring import ENTITY_SIDES

#: fewer entities drawn than this, of those that are to be counted, tell nothing of the others
FEWEST = 30

_RESAMPLES, _LEVEL = 1000, 0.95


@dataclass(frozen=True)
class GrowingReliK:
    """The ReliK of a set of triples, as far as it is counted.

    ``triples``: of `kgdash.ranking.relik.relik_values`, NaN where a triple's head or tail
    is not counted yet. ``mean``: of all triples, an estimate until it is ``exact``; ``low``,
    ``high``: its 95% interval; all three NaN while too few entities are counted. ``share``: of
    the heads and tails to count, those done, in [0, 1].
    """

    triples: pd.DataFrame
    mean: float
    low: float
    high: float
    share: float

    @property
    def exact(self) -> bool:
        """Whether all is counted."""
        return self.share == 1


def growing_relik(
    counts: pd.DataFrame, order: Anchors, done: int, rank_type: str = "optimistic"
) -> GrowingReliK:
    """Estimate the mean ReliK of triples of which some anchors are counted.

    :param counts: of `kgdash.ranking.relik_table.ReliKTable.counts`, at least one row
    :param order: the anchors that were missing at first, in the order of counting
    :param done: how many of them are counted
    :param rank_type: how ties count
    """
    values = relik_values(counts, rank_type)
    if done == len(order.entity):
        mean = float(values["relik"].mean())
        return GrowingReliK(values, mean, mean, mean, 1.0)
    for side in ENTITY_SIDES:
        ranks = values[f"{side}_rank"].astype(np.float64)
        values[f"{side}_rank"] = ranks.where(counts[f"{side}_greater"] != MISSING)
    values["relik"] = relik_of_ranks(values["head_rank"], values["tail_rank"])
    halves, errors = [], np.zeros(_RESAMPLES)
    for number, side in enumerate(ENTITY_SIDES):
        drawn = order.entity[:done][order.side[:done] == number]
        half, error = _side_mean(
            counts[side].to_numpy(),
            1 / values[f"{side}_rank"].to_numpy(),
            order.of(number),
            drawn,
            np.random.default_rng((number, done)),
        )
        halves.append(half)
        errors += error
    mean = float(np.mean(halves))
    low, high = mean + np.quantile(0.5 * errors, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return GrowingReliK(values, mean, float(low), float(high), done / len(order.entity))


def _side_mean(
    anchor: np.ndarray,
    value: np.ndarray,
    order: np.ndarray,
    drawn: np.ndarray,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """Estimate a mean over triples from those of drawn anchors, with resampled errors.

    With M anchors to draw, k drawn and R_r the mean over the triples not counted, R_k − R_r varies
    √(M / (M − k)) times as much as R_k alone does.

    :param anchor: of each triple, int64, ``(n,)``
    :param value: float64, ``(n,)``; of triples of other anchors than those left it counts as it is
    :param order: all anchors that are drawn from; ``drawn``: those drawn
    :return: the mean, and deviations from it, ``(resamples,)``; NaN if too few are drawn
    """
    random, counted = np.isin(anchor, order), np.isin(anchor, drawn)
    left = random & ~counted
    if not left.any():
        return float(value.mean()), np.zeros(_RESAMPLES)
    if len(drawn) < FEWEST:
        return np.nan, np.full(_RESAMPLES, np.nan)
    _, cluster = np.unique(anchor[counted], return_inverse=True)
    sums, sizes = np.bincount(cluster, value[counted]), np.bincount(cluster)
    ratio = sums.sum() / sizes.sum()
    known = value[~left].sum()
    k, every = len(sums), len(order)
    ratios = np.empty(_RESAMPLES)
    for resample in range(_RESAMPLES):
        times = np.bincount(rng.integers(0, k, k), minlength=k)
        ratios[resample] = (times @ sums) / (times @ sizes)
    spread = np.sqrt(every / (every - k) * k / (k - 1))
    # Each value left is in [0, 1].
    rest = np.clip(ratio + spread * (ratios - ratio), 0.0, 1.0)
    mean = (known + left.sum() * ratio) / len(value)
    return float(mean), left.sum() / len(value) * (rest - ratio)
