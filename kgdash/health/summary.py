"""Table of the spread of scores → values of a side, and of each query."""

import numpy as np
import pandas as pd

from kgdash.graph.sorted_slices import distinct_rows
from kgdash.ranking.metrics import POOLS


def score_summary(spread: pd.DataFrame, side: str = "both") -> pd.DataFrame:
    """Sum up the scores of true answers and of their rivals.

    :param spread: of `kgdash.health.spread.score_spread`
    :return: rows "true answers" and "candidates" (a rival counts once for each triple that it is a
        rival of): ``scores``, ``finite``, ``plus_infinite``, ``minus_infinite``, ``nan`` (int64),
        ``minimum``, ``maximum``, ``mean`` (float64, of the finite ones, NaN without any),
        ``at_minimum``, ``at_maximum`` (int64: how many are exactly that)
    """
    rows = spread[spread["side"].isin(POOLS[side])]
    own = rows["score"].to_numpy()
    finite = own[np.isfinite(own)]
    sums = rows[["finite", "plus_infinite", "minus_infinite", "nan"]].sum().to_dict()
    low, high = rows["lowest"].min(), rows["highest"].max()
    weighted = (rows["mean"] * rows["finite"]).sum()
    true = {
        "scores": len(own),
        "finite": len(finite),
        "plus_infinite": int(np.isposinf(own).sum()),
        "minus_infinite": int(np.isneginf(own).sum()),
        "nan": int(np.isnan(own).sum()),
        "minimum": finite.min() if len(finite) else np.nan,
        "maximum": finite.max() if len(finite) else np.nan,
        "mean": finite.mean() if len(finite) else np.nan,
        "at_minimum": int((finite == finite.min(initial=np.inf)).sum()),
        "at_maximum": int((finite == finite.max(initial=-np.inf)).sum()),
    }
    rivals = {
        "scores": int((rows["candidates"] - 1).sum()),
        **sums,
        "minimum": low,
        "maximum": high,
        "mean": weighted / sums["finite"] if sums["finite"] else np.nan,
        "at_minimum": int(rows.loc[rows["lowest"] == low, "at_lowest"].sum()),
        "at_maximum": int(rows.loc[rows["highest"] == high, "at_highest"].sum()),
    }
    return pd.DataFrame([true, rivals], index=["true answers", "candidates"])


def constant_queries(spread: pd.DataFrame) -> np.ndarray:
    """Tell which rows compare nothing: the true answer and all its rivals have one score.

    :return: bool, one per row; False without rivals
    """
    rivals, own = spread["candidates"] - 1, spread["score"]
    same = (spread["finite"] == rivals) & (spread["lowest"] == own) & (spread["highest"] == own)
    for infinity, column in ((np.inf, "plus_infinite"), (-np.inf, "minus_infinite")):
        same |= (spread[column] == rivals) & (own == infinity)
    return (same & (rivals > 0)).to_numpy()


def shared_best(spread: pd.DataFrame) -> np.ndarray:
    """Return how many rivals have the best score of their query: int64, one per row."""
    top = np.where(spread["plus_infinite"] > 0, spread["plus_infinite"], spread["at_highest"])
    return np.asarray(top, dtype=np.int64)


def query_numbers(spread: pd.DataFrame) -> pd.Series:
    """Return the query of each row as a number: int64; the same for rows that ask the same."""
    anchor = np.where(spread["side"] == "tail", spread["head"], spread["tail"])
    parts = [(spread["side"] == "tail").to_numpy(), spread["relation"].to_numpy(), anchor]
    keys = np.stack([np.asarray(part, dtype=np.int64) for part in parts], axis=1)
    return pd.Series(distinct_rows(keys).of, index=spread.index)
