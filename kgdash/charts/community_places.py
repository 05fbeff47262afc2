"""Where the communities of a map stand, and on which side of them their names."""

import networkx as nx
import numpy as np

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
