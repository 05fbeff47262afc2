"""Where the entities of a drawing stand: a circle, springs, or communities as discs."""

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd

#: edges per node from which springs only make a tangle
_DENSE = 1.5

#: entities for which there is room on a circle, and for whose springs there is time
_RING, _SPRINGS = 100, 500

#: between two neighbours in a disc, and between two discs; turns from one to the next
_STEP, _GAP, _GOLDEN = 1.0, 1.5, 2.39996


@dataclass(frozen=True)
class Layout:
    """Where the entities of a drawing are: id → (x, y); "circle", "springs" or "discs".

    ``groups``: id → its community among the entities drawn, 0 being the largest; ``order``: ids by
    community, in each those of most neighbours first.
    """

    shape: str
    positions: dict[int, tuple[float, float]]
    groups: dict[int, int]
    order: tuple[int, ...]


def pairs_of(triples: pd.DataFrame) -> pd.DataFrame:
    """Join the triples between the same two entities into one drawn edge.

    :param triples: ``head, relation, tail`` (ids), ``relik``
    :return: ``a``, ``b`` (entity ids, a ≤ b), ``relik`` (mean over the triples between them),
        ``triples`` (their number)
    """
    ends = np.sort(triples[["head", "tail"]].to_numpy(), axis=1)
    table = pd.DataFrame({"a": ends[:, 0], "b": ends[:, 1], "relik": triples["relik"].to_numpy()})
    return table.groupby(["a", "b"], as_index=False).agg(
        relik=("relik", "mean"), triples=("relik", "size")
    )


def layout(entities: np.ndarray, pairs: pd.DataFrame, before: Layout | None = None) -> Layout:
    """Place the entities, and divide them into communities (Louvain's method, seeded).

    A dense subgraph goes on a circle, community by community, where every label has room; a sparse
    one is drawn by springs (NetworkX, seeded), which show its shape; of a large one, communities
    are discs, those of most neighbours in the middle.

    :param entities: ids
    :param pairs: as `pairs_of` gives them
    :param before: entities that are placed there stay where they are
    """
    graph = nx.Graph()
    graph.add_nodes_from(int(e) for e in entities)
    graph.add_edges_from((int(a), int(b)) for a, b in zip(pairs["a"], pairs["b"], strict=True))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    groups, order = _communities(graph)
    dense = graph.number_of_edges() > _DENSE * len(entities)
    kept = {e: before.positions[e] for e in graph if e in before.positions} if before else {}
    if before and kept:
        return Layout(before.shape, _around(graph, kept, before.shape), groups, order)
    if len(entities) > _RING and (dense or len(entities) >= _SPRINGS):
        return Layout("discs", _discs(graph, groups, order), groups, order)
    if dense:
        turns = 2 * np.pi * np.arange(len(order)) / max(len(order), 1)
        places = zip(order, np.sin(turns), np.cos(turns), strict=True)
        return Layout("circle", {e: (float(x), float(y)) for e, x, y in places}, groups, order)
    spread = 2.5 / max(len(entities), 1) ** 0.5
    springs = nx.spring_layout(graph, seed=0, k=spread, iterations=60)
    positions = {e: (float(x), float(y)) for e, (x, y) in springs.items()}
    return Layout("springs", positions, groups, order)


def _communities(graph: nx.Graph) -> tuple[dict[int, int], tuple[int, ...]]:
    found = nx.community.louvain_communities(graph, seed=0)
    found = sorted(found, key=lambda members: (-len(members), min(members)))
    groups = {e: number for number, members in enumerate(found) for e in members}
    order = sorted(graph, key=lambda e: (groups[e], -graph.degree[e], e))
    return groups, tuple(order)


def _around(
    graph: nx.Graph, kept: dict[int, tuple[float, float]], shape: str
) -> dict[int, tuple[float, float]]:
    """Place what is new near its neighbours that have a place, outside a circle."""
    positions = dict(kept)
    new = [e for e in graph if e not in kept]
    step = 0.12 * float(np.abs(list(kept.values())).max(initial=0.1))
    for turn, entity in enumerate(new):
        near = [kept[n] for n in graph[entity] if n in kept] or [(1.0, 0.0)]
        x, y = np.mean(near, axis=0)
        angle, reach = _GOLDEN * turn, step * (1 + 0.1 * turn)
        if shape == "circle":
            angle, reach = np.arctan2(y, x) + 0.06 * (turn - len(new) / 2), 1.45
            x = y = 0.0
        positions[entity] = (float(x + reach * np.cos(angle)), float(y + reach * np.sin(angle)))
    return positions


def _discs(
    graph: nx.Graph, groups: Mapping[int, int], order: tuple[int, ...]
) -> dict[int, tuple[float, float]]:
    """Place each community as a disc, the largest first, near those that it has edges with."""
    members: dict[int, list[int]] = {}
    for entity in order:
        members.setdefault(groups[entity], []).append(entity)
    centres: dict[int, np.ndarray] = {}
    radii = {group: _STEP * len(inside) ** 0.5 for group, inside in members.items()}
    links = nx.quotient_graph(graph, list(map(set, members.values())), relabel=True)
    for group, radius in radii.items():
        near = [centres[n] for n in links[group] if n in centres]
        wished = np.mean(near, axis=0) if near else np.zeros(2)
        centres[group] = _free_place(radius, wished, centres, radii)
    positions = {}
    for group, inside in members.items():
        for place, entity in enumerate(inside):
            reach, turn = _STEP * place**0.5, _GOLDEN * place
            x, y = centres[group] + reach * np.array([np.cos(turn), np.sin(turn)])
            positions[entity] = (float(x), float(y))
    return positions


def _free_place(
    radius: float, wished: np.ndarray, centres: Mapping[int, np.ndarray], radii: Mapping[int, float]
) -> np.ndarray:
    """Return the place nearest to the wished one, on circles around it, that is clear of others."""
    others = np.array(list(centres.values())).reshape(-1, 2)
    apart = np.array([radii[group] for group in centres]) + radius + _GAP
    turns = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    around = np.column_stack([np.cos(turns), np.sin(turns)])
    for reach in np.arange(0, 1e6, _STEP):
        places = wished + reach * around
        far = np.linalg.norm(places[:, None] - others[None], axis=2)
        free = np.flatnonzero((far >= apart).all(axis=1))
        if len(free):
            # Of several, that nearest to the middle of all.
            return places[free[np.linalg.norm(places[free], axis=1).argmin()]]
    raise AssertionError("a plane has room for a disc")
