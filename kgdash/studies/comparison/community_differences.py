"""Where one run beats another: per entity, and per community of the graph."""

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import describe_communities
from kgdash.ranking.metric import RatioMetric
from kgdash.ranking.ratio_metrics import ratio_intervals
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.rounding import excess
from kgdash.studies.comparison.comparison import Ranks, reciprocal_ranks, triples_of


def entity_differences(
    pair: Ranks, side: str = "both", rank_type: str = "realistic"
) -> pd.DataFrame:
    """Average, per entity, by how much one run's reciprocal ranks exceed the other's.

    :param pair: of `kgdash.studies.comparison.comparison.pair_of`
    :param side: "head", "tail", or "both" for the mean of the triple's two reciprocal ranks
    :return: one row per entity that is an end of a ranked triple, greatest difference first:
        ``entity`` (int64 id), ``triples`` (int64: that it is an end of), ``wins``, ``losses``
        (int64), ``mrr_a``, ``mrr_b``, ``difference`` (a − b; float64), ``small`` (bool: fewer than
        30 triples)
    """
    values = reciprocal_ranks(pair, side, rank_type)
    table = _ended_by(triples_of(pair, side)[:, [0, 2]], values).rename(columns={"of": "entity"})
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def community_differences(
    pair: Ranks,
    graph: KnowledgeGraph,
    communities: np.ndarray,
    side: str = "both",
    rank_type: str = "realistic",
    bootstrap: Bootstrap = Bootstrap(),
) -> pd.DataFrame:
    """Average, per community, by how much one run's reciprocal ranks exceed the other's.

    A triple counts in the community of its head and in that of its tail, once where they are the
    same.

    :param pair: of `kgdash.studies.comparison.comparison.pair_of`
    :param communities: of `find_communities`
    :param side: as for `entity_differences`
    :param bootstrap: level and seed of the intervals: `ratio_intervals` over triples
    :return: one row per community with ranked triples, greatest difference first: ``community``
        (int64), ``name`` (str: the label of `kgdash.graph.communities.Community`), ``entities``,
        ``triples`` (int64: ranked, with an end in it), ``inside`` (int64: those with both),
        ``wins``, ``losses`` (int64), ``mrr_a``, ``mrr_b``, ``difference`` (a − b), ``low``,
        ``high`` (float64; NaN without an interval), ``small`` (bool: fewer than 30 triples),
        ``central`` (str: the most central entity's name), ``relations`` (str: the most frequent of
        its known triples)
    """
    values = reciprocal_ranks(pair, side, rank_type)
    ends = communities[triples_of(pair, side)[:, [0, 2]]]
    table = _ended_by(ends, values).rename(columns={"of": "community"})
    differences = excess(values[:, 0], values[:, 1])
    # Sorted once: looking through all triples for each community would take minutes.
    of, rows = _members(ends)
    part, counts = differences[rows[np.lexsort((rows, of))]], table["triples"].to_numpy()
    seeds = [(bootstrap.seed, int(community)) for community in table["community"]]
    table[["low", "high"]] = ratio_intervals(
        RatioMetric(bounds=(-1, 1)), part, np.ones(len(part)), counts, bootstrap.level, seeds
    )
    both = ends[ends[:, 0] == ends[:, 1], 0]
    inside = np.bincount(both, minlength=communities.max() + 1)
    sizes = np.bincount(communities)
    about = describe_communities(graph, communities, table["community"].tolist())
    table.insert(1, "name", [about[community].label for community in table["community"]])
    table.insert(2, "entities", sizes[table["community"]])
    table.insert(4, "inside", inside[table["community"]])
    told = [about[community] for community in table["community"]]
    table["central"] = [graph.entities[each.central[0]] for each in told]
    table["relations"] = [each.relations for each in told]
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def _ended_by(ends: np.ndarray, values: np.ndarray) -> pd.DataFrame:
    """Sum up triples by what stands at either end: ``(triples, 2)``; equal ends count once."""
    of, members = _members(ends)
    rows = values[members]
    found, at = np.unique(of, return_inverse=True)
    counts = np.bincount(at)
    table = pd.DataFrame({"of": found, "triples": counts})
    ahead = excess(rows[:, 0], rows[:, 1])
    table["wins"] = np.bincount(at[ahead > 0], minlength=len(found))
    table["losses"] = np.bincount(at[ahead < 0], minlength=len(found))
    for column, run in enumerate(("a", "b")):
        table[f"mrr_{run}"] = np.bincount(at, weights=rows[:, column]) / counts
    table["difference"] = table["mrr_a"] - table["mrr_b"]
    table["small"] = table["triples"] < SMALL
    return table


def _members(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what stands at the ends of triples, equal ends once, and whose row each is of."""
    other = np.flatnonzero(ends[:, 0] != ends[:, 1])
    of = np.concatenate([ends[:, 0], ends[other, 1]])
    return of, np.concatenate([np.arange(len(ends)), other])
