"""Where an instance's entities and edges are drawn, from the anchors to the answer."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd

#: where the points of an edge lie on it: float64 ``(25, 1)``, from 0 at its head to 1 at its tail
_ALONG = np.linspace(0, 1, 25)[:, None]


@dataclass(frozen=True)
class PathLayout:
    """Places of an instance's entities: id -> (column from the left, row from the bottom), ≥ 0.

    The answer is at the bottom of the last column, and each entity as many columns before it as
    steps lead to it. So no edge passes below an entity, where the labels of the lowest row are.
    """

    answer: int
    places: dict[int, tuple[float, float]]
    columns: int
    rows: int


def path_layout(triples: pd.DataFrame) -> PathLayout:
    """Place the entities of an instance by their distance from the answer, column by column.

    The distance is that by the triples that lead there, where they do: a rule's body, and not its
    head, which leads from one end to the other at once.

    :param triples: rows of an instance's triples: ``head, tail`` (ids), ``is_answer_triple``,
        ``predicted_side``; not empty
    """
    concluding = triples[triples["is_answer_triple"]].iloc[0]
    answer = int(concluding[concluding["predicted_side"]])
    graph, body = (
        nx.from_pandas_edgelist(rows, "head", "tail")
        for rows in (triples, triples[~triples["is_answer_triple"]])
    )
    distance = dict(nx.single_source_shortest_path_length(graph, answer))
    if answer in body:
        distance |= nx.single_source_shortest_path_length(body, answer)
    last = max(distance.values())
    layers: dict[int, list[int]] = defaultdict(list)
    for entity in graph:
        # What no triple joins to the answer stands where paths begin.
        layers[last - distance.get(entity, last)].append(entity)
    # From the bottom: NetworkX's layered layout centres columns, and edges then cross the labels.
    places = {
        entity: (float(column), float(row))
        for column, entities in layers.items()
        for row, entity in enumerate(entities)
    }
    return PathLayout(answer, places, last + 1, max(map(len, layers.values())))


def edge_curves(edges: pd.DataFrame, placed: PathLayout, bend: float) -> list[np.ndarray]:
    """Return the points of each edge, from head to tail: float64 ``(points, 2)``.

    Edges between entities that another edge joins, and those that pass by a column, are bent
    upwards.

    :param edges: ``head, tail`` (ids); each triple once
    :param placed: of `path_layout`
    :param bend: by how many rows an edge leaves the straight line, or what it passes by
    """
    seen: Counter[frozenset[int]] = Counter()
    curves = []
    for head, tail in edges[["head", "tail"]].to_numpy().tolist():
        start, end = np.array(placed.places[head]), np.array(placed.places[tail])
        number = seen[frozenset((head, tail))]
        seen[frozenset((head, tail))] += 1
        passed = [y for x, y in placed.places.values() if (x - start[0]) * (x - end[0]) < 0]
        if head == tail:
            turn = 2 * np.pi * (_ALONG - 0.25)
            ellipse = np.hstack([0.13 * np.cos(turn), 0.3 * (1 + np.sin(turn))])
            curves.append(start + (1 + 0.4 * number) * ellipse)
            continue
        if start[0] == end[0]:
            offset = (0.3 * (1 + number), 0.0)
        elif passed:
            offset = (0.0, max(passed) + bend * (number + 1))
        else:
            offset = (0.0, bend * number)
        curves.append(start + _ALONG * (end - start) + 4 * _ALONG * (1 - _ALONG) * offset)
    return curves
