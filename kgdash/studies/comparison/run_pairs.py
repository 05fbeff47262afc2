"""Two runs, rank by rank: which is better in which relation, and how their ranks go together."""

import numpy as np
import pandas as pd
from scipy.stats import binom

from kgdash.graph import IDS
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.statistics.multiple_testing import holm
from kgdash.statistics.rounding import excess
from kgdash.studies.comparison.comparison import (
    COMPARED_SIDES,
    Ranks,
    reciprocal_ranks,
    stacked_ranks,
    triples_of,
)


def relation_sign_tests(pair: Ranks, rank_type: str = "realistic") -> pd.DataFrame:
    """Count per relation and side the triples that one run ranks better than the other.

    On side "both" a triple's mean reciprocal rank decides, so that triples are independent units.
    ``p_sign`` is the two-sided sign test (Dixon and Mood 1946; `scipy.stats.binomtest` on wins out
    of wins and losses at ½; 1 where there are none); ``p_holm`` is Holm's correction over the
    relations of that side.

    :param pair: of `kgdash.studies.comparison.comparison.pair_of`: a, then b
    :return: one row per side ("head", "tail", "both") and relation with triples: ``relation``
        (int64 id), ``side`` (str), ``triples``, ``wins``, ``ties``, ``losses`` (int64: a is better,
        equal, worse), ``p_sign``, ``p_holm`` (float64 in (0, 1]), ``mrr_a``, ``mrr_b``,
        ``difference`` (a − b)
    """
    tables = []
    for side in COMPARED_SIDES:
        first, second = reciprocal_ranks(pair, side, rank_type).T
        ahead = excess(first, second)
        rows = pd.DataFrame(
            {
                "relation": triples_of(pair, side)[:, 1],
                "triples": 1,
                "wins": ahead > 0,
                "ties": ahead == 0,
                "losses": ahead < 0,
                "mrr_a": first,
                "mrr_b": second,
            }
        )
        counts = {name: (name, "sum") for name in ("triples", "wins", "ties", "losses")}
        means = {name: (name, "mean") for name in ("mrr_a", "mrr_b")}
        table = rows.groupby("relation").agg(**counts, **means).reset_index()
        decided = table["wins"] + table["losses"]
        fewer = table[["wins", "losses"]].min(axis=1)
        table.insert(1, "side", side)
        table.insert(6, "p_sign", np.minimum(1.0, 2 * binom.cdf(fewer, decided, 0.5)))
        table.insert(7, "p_holm", holm(table["p_sign"].to_numpy()))
        table["difference"] = table["mrr_a"] - table["mrr_b"]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def rank_pairs(pair: Ranks, side: str = "both", rank_type: str = "realistic") -> pd.DataFrame:
    """Count how often each rank by one run meets each rank by the other.

    :param side: "head", "tail", or "both" for the ranks of both sides, each for itself
    :return: one row per pair of ranks that occurs: ``rank_a``, ``rank_b`` (float64, ≥ 1), ``count``
        (int64, ≥ 1), ascending
    """
    values = stacked_ranks(pair, side, rank_type).reshape(-1, 2)
    pairs, _, _, counts = distinct_rows(values)
    return pd.DataFrame(pairs, columns=["rank_a", "rank_b"]).assign(count=counts)


def rank_grid(pairs: pd.DataFrame, most: float, steps: int = 40) -> pd.DataFrame:
    """Gather pairs of ranks into cells of a log-log grid; the best ranks have cells of their own.

    :param pairs: of `rank_pairs`
    :param most: the highest rank possible, ≥ 1: the number of candidates
    :param steps: cells a side, at most
    :return: one row per cell that holds some: ``low_a``, ``high_a``, ``low_b``, ``high_b``
        (float64: ranks from low on, below high), ``count`` (int64)
    """
    edges = np.unique(np.floor(np.geomspace(1, most + 1, steps + 1)))
    edges[-1] = most + 1
    cells = {
        run: np.searchsorted(edges, pairs[f"rank_{run}"], side="right") - 1 for run in ("a", "b")
    }
    grid = pairs.groupby([cells["a"], cells["b"]])["count"].sum()
    columns: dict[str, np.ndarray] = {}
    for level, run in enumerate(("a", "b")):
        at = grid.index.get_level_values(level).to_numpy()
        columns |= {f"low_{run}": edges[at], f"high_{run}": edges[at + 1]}
    return pd.DataFrame({**columns, "count": grid.to_numpy()})


def triple_differences(
    pair: Ranks, side: str = "both", rank_type: str = "realistic"
) -> pd.DataFrame:
    """List the triples by how much more one run makes of them than the other.

    :param side: "head", "tail", or "both" for the mean of the triple's two reciprocal ranks
    :return: one row per triple, greatest difference first, equal ones in the order of the split:
        ``head, relation, tail`` (int64 ids), ``reciprocal_rank_a``, ``reciprocal_rank_b``,
        ``difference`` (a − b; float64)
    """
    values = reciprocal_ranks(pair, side, rank_type)
    table = pd.DataFrame(triples_of(pair, side), columns=IDS)
    table["reciprocal_rank_a"], table["reciprocal_rank_b"] = values.T
    table["difference"] = values[:, 0] - values[:, 1]
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)
