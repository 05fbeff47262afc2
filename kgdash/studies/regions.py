"""Where one run beats another: per entity, and per region of the graph."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import networkx as nx
import numpy as np
import pandas as pd

from kgdash.breakdowns import SMALL
from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.ratio_metrics import RatioMetric, ratio_intervals
from kgdash.store import cached_table
from kgdash.studies.comparison import Ranks, pair_of, reciprocal_ranks, triples_of

#: entities and relations that a region is told by
_TOLD = 3

#: seconds between two reports of a search that can not report itself
_POLL = 0.1


def find_regions(
    graph: KnowledgeGraph, resolution: float = 1.0, seed: int = 0, progress: Progress = silent
) -> np.ndarray:
    """Divide the entities into densely connected regions; kept on disk.

    Communities by Louvain's method (Blondel et al. 2008, `networkx.community`) on all known
    triples without direction and loops, each pair of entities as often as triples join it.

    :param graph: all its splits
    :param resolution: > 0; the higher, the more and the smaller are the regions
    :param seed: of the order in which entities are looked at, ≥ 0
    :param progress: called with (0, 1) while it takes; may raise to cancel
    :return: int64, shape ``(|E|,)``: the region of each entity, 0 being the largest
    :raises KgdashError: if the resolution is not above 0
    """
    if not resolution > 0:
        raise KgdashError(f"expected a resolution above 0; found {resolution:g}")
    key = {"kind": "regions", "graph": graph.digest, "resolution": float(resolution)}
    about = {"kind": "comparison", "graph": graph.name, "method": "regions"}
    table = cached_table(
        key | {"seed": seed, "version": 1},
        lambda: pd.DataFrame({"region": _louvain(graph, resolution, seed, progress)}),
        about,
        progress,
    )
    return table["region"].to_numpy()


def entity_differences(
    ranks: Ranks, a: str, b: str, side: str = "both", rank_type: str = "realistic"
) -> pd.DataFrame:
    """Average, per entity, by how much one run's reciprocal ranks exceed the other's.

    :param ranks: of `kgdash.studies.comparison.compared_ranks`
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
    :param level: of the intervals, in (0, 1): `kgdash.ratio_metrics.ratio_intervals` over triples
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


def region_descriptions(
    graph: KnowledgeGraph, regions: np.ndarray, wanted: list[int]
) -> dict[int, tuple[str, str, str]]:
    """Tell some regions by what is in them.

    :param regions: of `find_regions`
    :param wanted: numbers of regions
    :return: region -> labels of its most central entity (by known triples inside), of its most
        central entities, and of its most frequent relations
    """
    heads, relations, tails = graph.all_triples.T
    inside = regions[heads] == regions[tails]
    others = inside & (heads != tails)
    degrees = np.bincount(
        np.concatenate([heads[inside], tails[others]]), minlength=graph.num_entities
    )
    counts = np.zeros((regions.max() + 1, graph.num_relations), dtype=np.int64)
    np.add.at(counts, (regions[heads[inside]], relations[inside]), 1)
    told = {}
    for region in wanted:
        members = np.flatnonzero(regions == region)
        central = members[np.argsort(-degrees[members], kind="stable")][:_TOLD]
        frequent = np.argsort(-counts[region], kind="stable")[:_TOLD]
        frequent = frequent[counts[region][frequent] > 0]
        labels = [graph.entity_labels[entity] for entity in central]
        told[region] = (
            labels[0],
            ", ".join(labels) + (" …" if len(members) > _TOLD else ""),
            ", ".join(graph.relation_labels[relation] for relation in frequent),
        )
    return told


def _louvain(graph: KnowledgeGraph, resolution: float, seed: int, progress: Progress) -> np.ndarray:
    ends = np.sort(graph.all_triples[:, [0, 2]], axis=1)
    pairs, times = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0, return_counts=True)
    joined = nx.Graph()
    joined.add_nodes_from(range(graph.num_entities))
    joined.add_weighted_edges_from(np.column_stack([pairs, times]).tolist())
    pool = ThreadPoolExecutor(1)
    search = pool.submit(nx.community.louvain_communities, joined, resolution=resolution, seed=seed)
    try:
        while wait([search], timeout=_POLL).not_done:
            progress(0.0, 1.0)
    finally:
        # Who cancels does not wait for it: it ends by itself and its result is dropped.
        pool.shutdown(wait=False)
    regions = np.empty(graph.num_entities, dtype=np.int64)
    by_size = sorted(search.result(), key=lambda members: (-len(members), min(members)))
    for number, members in enumerate(by_size):
        regions[list(members)] = number
    return regions
