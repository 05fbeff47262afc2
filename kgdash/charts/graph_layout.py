"""Where the entities of a drawing and the communities of a map stand, and the map's names."""

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

#: names, at most
_NAMED = 14

#: letters of a name on the map, and pixels of one, of a line, and of the map: on a desk and on a
#: phone its width, and its height
SHORT, _LETTER, _LINE, _WIDTHS_OF_MAP, _HEIGHT = 20, 6, 14, (560, 350), 540

#: where a name may stand about its bubble, in Plotly's words and as a direction: the best first
_SIDES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
}

#: bubbles that meet are pushed apart so often; pixels of one of their map's units, or some more
_PUSHES, _PIXELS = 100, 150


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
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, relik = ends[order], triples["relik"].to_numpy(np.float64)[order]
    starts = np.flatnonzero((np.diff(ends, axis=0, prepend=-1) != 0).any(axis=1))
    known = np.add.reduceat(~np.isnan(relik), starts) if len(starts) else starts
    sums = np.add.reduceat(np.nan_to_num(relik), starts) if len(starts) else starts
    return pd.DataFrame(
        {
            "a": ends[starts, 0],
            "b": ends[starts, 1],
            "relik": np.where(known, sums / np.maximum(known, 1), np.nan),
            "triples": np.diff(starts, append=len(ends)),
        }
    )


def layout_of(entities: np.ndarray, triples: pd.DataFrame, before: Layout | None = None) -> Layout:
    """Return the `layout` of entities and of triples between them, as of `pairs_of`."""
    return layout(entities, pairs_of(triples), before)


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


def spread_out(graph: nx.Graph, sizes: np.ndarray) -> dict[int, np.ndarray]:
    """Place most by springs, bubbles apart, and what is joined to none of them in a row beneath.

    :param sizes: diameters of the nodes, px, ``(n,)``
    """
    joined = max(nx.connected_components(graph), key=len)
    if 2 * len(joined) < len(graph):
        joined = set(graph)
    rest = [node for node in graph if node not in joined]
    main = nx.Graph(graph)
    main.remove_nodes_from(rest)
    springs = nx.spring_layout(main, seed=0, k=2.2 / len(graph) ** 0.5, iterations=120)
    spread = _evened(np.array([springs[node] for node in main]))
    radii = np.array([size for node, size in zip(graph, sizes, strict=True) if node in joined]) / 2
    points = _apart(spread, radii / _PIXELS)
    places = dict(zip(main, points, strict=True))
    reach = max(float(np.abs(points).max()), 0.5)
    row = np.linspace(-reach, reach, len(rest) + 2)[1:-1]
    beneath = points[:, 1].min() - 0.3 * reach
    return places | {node: np.array([x, beneath]) for node, x in zip(rest, row, strict=True)}


def name_sides(places: dict, sizes: dict, labels: list[str]) -> dict:
    """Choose bubbles whose names meet no other name or bubble and are not cut; and their sides.

    That holds on the map of a desk and of a phone.

    :param places: of all bubbles
    :param sizes: diameters, px; the first has the first choice
    :return: node -> Plotly's ``textposition``
    """
    points = np.array([places[node] for node in sizes])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    shares = (points - middle) / (1.24 * np.maximum(np.ptp(points, axis=0), 1.0)) + 0.5
    maps = [shares * (width, _HEIGHT) for width in _WIDTHS_OF_MAP]
    radii = np.array(list(sizes.values())) / 2
    taken: list[list[np.ndarray]] = []
    named: dict = {}
    for place, (node, label) in enumerate(zip(sizes, labels, strict=True)):
        half = np.array([_LETTER * min(len(label), SHORT), _LINE]) / 2
        for side, direction in _SIDES.items():
            away = np.array(direction) * (1.25 * radii[place] + half)
            boxes = [np.array([at[place] + away - half, at[place] + away + half]) for at in maps]
            if _is_free(boxes, taken, maps, np.where(np.arange(len(radii)) == place, 0, radii)):
                taken.append(boxes)
                named[node] = side
                break
        if len(named) == _NAMED:
            break
    return named


def _is_free(
    boxes: list[np.ndarray],
    taken: list[list[np.ndarray]],
    maps: list[np.ndarray],
    radii: np.ndarray,
) -> bool:
    """Tell whether a name is inside the map and meets nothing, on each of the maps.

    :param boxes: its lower and upper corner on each map, ``(2, 2)``
    :param taken: those of other names
    :param maps: centres of the bubbles on each, ``(n, 2)``
    :param radii: of the bubbles, ``(n,)``
    """
    for number, (box, width) in enumerate(zip(boxes, _WIDTHS_OF_MAP, strict=True)):
        if box[0, 0] < 0 or box[1, 0] > width:
            return False
        nearest = np.clip(maps[number], box[0], box[1])
        if (np.linalg.norm(maps[number] - nearest, axis=1) < radii).any():
            return False
        others = np.array([each[number] for each in taken]).reshape(-1, 2, 2)
        if ((others[:, 0] < box[1]) & (others[:, 1] > box[0])).all(axis=1).any():
            return False
    return True


def _evened(points: np.ndarray) -> np.ndarray:
    """Draw far ones nearer and a crowd apart: distances from the middle become their roots.

    :param points: ``(n, 2)``
    """
    away = points - np.median(points, axis=0)
    distances = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    return away * np.sqrt(distances.max() / distances)


def _apart(points: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Push circles apart where they meet: centres ``(n, 2)``, radii ``(n,)``."""
    for _ in range(_PUSHES):
        gaps = points[:, None] - points
        distances = np.maximum(np.linalg.norm(gaps, axis=2), 1e-9)
        overlaps = np.maximum(radii[:, None] + radii - distances, 0)
        np.fill_diagonal(overlaps, 0)
        points = points + 0.25 * (gaps * (overlaps / distances)[:, :, None]).sum(axis=1)
    return points
