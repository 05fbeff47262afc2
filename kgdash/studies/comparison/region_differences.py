"""Where one run beats another: per entity, and per region of the graph."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import region_descriptions
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.studies.comparison.comparison import Ranks, pair_of, reciprocal_ranks, triples_of


def entity_differences(
    ranks: Ranks, a: str, b: str, side: str = "both", rank_type: str = "realistic"
) -> pd.DataFrame:
    """Average, per entity, by how much one run's reciprocal ranks exceed the other's.

    :param ranks: of `kgdash.studies.comparison.comparison.compared_ranks`
    :param side: "head", "tail", or "both" for the mean of the triple's two reciprocal ranks
    :return: one row per entity that is an end of a ranked triple, greatest difference first:
        ``entity`` (int64 id), ``triples`` (int64: that it is an end of), ``wins``, ``losses``
        (int64), ``mrr_a``, ``mrr_b``, ``difference`` (a − b; float64), ``small`` (bool: fewer than
        30 triples)
    """
    pair = pair_of(ranks, a, b)
    values = reciprocal_ranks(pair, side, rank_type)
    table = _ended_by(triples_of(pair, side)[:, [0, 2]], values).rename(columns={"of": "entity"})
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def region_differences(
    ranks: Ranks,
    a: str,
    b: str,
    graph: KnowledgeGraph,
    regions: np.ndarray,
    side: str = "both",
    rank_type: str = "realistic",
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Average, per region, by how much one run's reciprocal ranks exceed the other's.

    A triple counts in the region of its head and in that of its tail, once where they are the same.

    :param regions: of `find_regions`
    :param level: of the intervals, in (0, 1): `ratio_intervals` over triples
    :param seed: of the bootstrap, ≥ 0
    :return: one row per region with ranked triples, greatest difference first: ``region`` (int64),
        ``name`` (str: label of its most central entity, by known triples inside),
        ``entities``, ``triples`` (int64: ranked, with an end in it), ``inside`` (int64: those with
        both), ``wins``, ``losses`` (int64), ``mrr_a``, ``mrr_b``, ``difference`` (a − b), ``low``,
        ``high`` (float64; NaN for one triple), ``small`` (bool: fewer than 30 triples),
        ``central``, ``relations`` (str: its most central entities, and the most frequent relations
        of its known triples)
    """
    pair = pair_of(ranks, a, b)
    values = reciprocal_ranks(pair, side, rank_type)
    ends = regions[triples_of(pair, side)[:, [0, 2]]]
    table = _ended_by(ends, values).rename(columns={"of": "region"})
    differences = values[:, 0] - values[:, 1]
    members = [differences[(ends == region).any(axis=1)] for region in table["region"]]
    part, counts = np.concatenate(members), np.array([len(of_region) for of_region in members])
    seeds = [(seed, int(region)) for region in table["region"]]
    table[["low", "high"]] = ratio_intervals(
        RatioMetric(), part, np.ones(len(part)), counts, level, seeds
    )
    both = ends[ends[:, 0] == ends[:, 1], 0]
    inside = np.bincount(both, minlength=regions.max() + 1)
    sizes = np.bincount(regions)
    told = region_descriptions(graph, regions, table["region"].tolist())
    table.insert(1, "name", [told[region][0] for region in table["region"]])
    table["central"] = [told[region][1] for region in table["region"]]
    table.insert(2, "entities", sizes[table["region"]])
    table.insert(4, "inside", inside[table["region"]])
    table["relations"] = [told[region][2] for region in table["region"]]
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def _ended_by(ends: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Sum up triples by what stands at either end: ``(triples, 2)``; equal ends count once."""
    loops = ends[:, 0] == ends[:, 1]
    of = np.concatenate([ends[:, 0], ends[~loops, 1]])
    rows = np.concatenate([values, values[~loops]])
    found, at = np.unique(of, return_inverse=True)
    counts = np.bincount(at)
    table = pd.DataFrame({"of": found, "triples": counts})
    table["wins"] = np.bincount(at[rows[:, 0] > rows[:, 1]], minlength=len(found))
    table["losses"] = np.bincount(at[rows[:, 0] < rows[:, 1]], minlength=len(found))
    for column, run in enumerate(("a", "b")):
        table[f"mrr_{run}"] = np.bincount(at, weights=rows[:, column]) / counts
    table["difference"] = table["mrr_a"] - table["mrr_b"]
    table["small"] = table["triples"] < SMALL
    return table
