"""Groups of queries that depend on the query alone: never on which answer is true.

Defined in numbers.md#23-probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgdash.errors import check_name
from kgdash.graph import IDS
from kgdash.graph.communities import describe_communities, find_communities
from kgdash.graph.ends import train_degrees, triple_ends
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.statistics.estimate import numbers

#: what queries are grouped by
GROUPINGS = {
    "side": "open side",
    "relation": "relation",
    "community": "community of the entity that the query names",
    "degree": "decile of that entity's training triples",
    "relik": "decile of that entity's ReliK, the mean over its training triples",
}

#: parts of which each holds as many validation queries
_PARTS = 10


@dataclass(frozen=True)
class Queries:
    """Queries: ``side`` ("head" or "tail": the open one), ``relation`` and ``anchor`` (ids).

    Arrays of equal length; the anchor is the entity that a query names.
    """

    side: np.ndarray
    relation: np.ndarray
    anchor: np.ndarray

    @classmethod
    def of(cls, triples: np.ndarray) -> Queries:
        """Return those of triples, int64 ``(n, 3)``: all heads open, then all tails."""
        heads, relations, tails = triples.T
        sides = np.repeat(np.array(["head", "tail"]), len(triples))
        return cls(sides, np.tile(relations, 2), np.concatenate([tails, heads]))


@dataclass(frozen=True)
class Grouping:
    """``codes``: from queries to int64 numbers of groups, -1 for none; ``name`` of a number."""

    codes: Callable[[Queries], np.ndarray]
    name: Callable[[int], str]


def grouping(run: Run, by: str, progress: Progress = silent) -> Grouping:
    """Make a grouping of a run's queries.

    Deciles are those of the validation queries; equal values share a group.

    :param by: of `GROUPINGS`
    :raises KgdashError: if it is unknown, or there are no validation triples for deciles
    """
    check_name("grouping", by, GROUPINGS, "probabilities")
    graph = run.graph
    if by == "side":
        return Grouping(
            lambda queries: (queries.side == "tail").astype(np.int64),
            lambda number: ("head", "tail")[number],
        )
    if by == "relation":
        return Grouping(lambda queries: queries.relation, graph.relation_lookup.distinct_label)
    if by == "community":
        of_entity = find_communities(graph, progress=progress)
        names = describe_communities(graph, of_entity, np.unique(of_entity).tolist())
        return Grouping(
            lambda queries: of_entity[queries.anchor], lambda number: names[number].label
        )
    values = mean_relik(run, progress) if by == "relik" else train_degrees(graph).astype(float)
    at = values[Queries.of(graph.split("valid")).anchor]
    at = at[np.isfinite(at)]
    # Validation queries of entities that train lacks have no ReliK to be cut by.
    edges = np.quantile(at, np.arange(1, _PARTS) / _PARTS) if len(at) else at
    # Degrees are whole numbers: between 44 and 45 an edge parts what 44 does.
    edges = np.unique(np.floor(edges) if by == "degree" else edges)

    def codes(queries: Queries) -> np.ndarray:
        found = values[queries.anchor]
        return np.where(np.isfinite(found), np.searchsorted(edges, found, side="left"), -1)

    return Grouping(codes, lambda part: _span(part, edges, by == "degree"))


def _span(part: int, edges: np.ndarray, is_whole: bool) -> str:
    """Say which values the part holds: "≤ 0.12", "0.12 to 0.3", "> 0.3"; "13 to 16", "17"."""
    if not len(edges):
        return "all"
    texts = [f"{edge:,.0f}" for edge in edges] if is_whole else numbers(edges.tolist())
    if part == 0:
        return f"≤ {texts[0]}"
    if part == len(edges):
        return f"> {texts[-1]}"
    low, high = edges[part - 1 : part + 1]
    if not is_whole:
        return f"{texts[part - 1]} to {texts[part]}"
    return texts[part] if high == low + 1 else f"{low + 1:,.0f} to {texts[part]}"


def mean_relik(run: Run, progress: Progress = silent) -> np.ndarray:
    """Return the mean ReliK of each entity's training triples: float64, ``(|E|,)``, NaN of none."""
    table = run.relik("train", progress=progress)
    ends, rows = triple_ends(table[IDS].to_numpy())
    values = table["relik"].to_numpy()[rows]
    size = run.graph.num_entities
    with np.errstate(invalid="ignore"):
        return np.bincount(ends, values, size) / np.bincount(ends, minlength=size)
