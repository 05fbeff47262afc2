"""Where an instance's entities and edges are drawn, from the anchors to the answer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd

#: points of a drawn edge
_POINTS = 25


@dataclass(frozen=True)
class PathLayout:
    """Places of an instance's entities: id -> (column from the left, row from the bottom), ≥ 0.

    The answer is at the bottom of the last column, and each entity as many columns before it as
    steps lead to it. So no edge passes below an entity, where the labels of the lowest row are.
    """

    answer: int
    places: dict[int, tuple[float, float]]

    @property
    def columns(self) -> int:
        """Return the number of columns, ≥ 1."""
        return int(max(x for x, _ in self.places.values())) + 1

    @property
    def rows(self) -> int:
        """Return the largest number of entities in a column."""
        counts = np.bincount([int(x) for x, _ in self.places.values()])
        return int(counts.max())


def path_layout(triples: pd.DataFrame) -> PathLayout:
    """Place the entities of an instance by their distance from the answer.

    The distance is that by the triples that lead there, where they do: a rule's body, and not its
    head, which leads from one end to the other at once.

    :param triples: rows of an instance's triples: ``head, tail`` (ids), ``is_answer_triple``,
        ``predicted_side``; not empty
    """
    concluding = triples[triples["is_answer_triple"]].iloc[0]
    answer = int(concluding[concluding["predicted_side"]])
    graph, body = nx.Graph(), nx.Graph()
    for row in triples.itertuples():
        graph.add_edge(int(row.head), int(row.tail))
        if not row.is_answer_triple:
            body.add_edge(int(row.head), int(row.tail))
    distance = dict(nx.single_source_shortest_path_length(graph, answer))
    if answer in body:
        distance |= nx.single_source_shortest_path_length(body, answer)
    last = max(distance.values())
    columns: dict[int, list[int]] = defaultdict(list)
    for entity in graph:
        # What no triple joins to the answer stands where paths begin.
        columns[last - distance.get(entity, last)].append(entity)
    places = {
        entity: (float(column), float(at))
        for column, inside in columns.items()
        for at, entity in enumerate(inside)
    }
    return PathLayout(answer, places)


def edge_curves(edges: pd.DataFrame, placed: PathLayout, bend: float) -> list[np.ndarray]:
    """Return the points of each edge, from head to tail: float64 ``(points, 2)``.

    Edges between entities that another edge joins, and those that pass by a column, are bent
    upwards.

    :param edges: ``head, tail`` (ids); each triple once
    :param placed: of `path_layout`
    :param bend: by how many rows an edge leaves the straight line, or what it passes by
    """
    ends = edges[["head", "tail"]].to_numpy().tolist()
    seen: dict[tuple[int, ...], int] = defaultdict(int)
    curves = []
    for head, tail in ends:
        start, end = np.array(placed.places[head]), np.array(placed.places[tail])
        pair = tuple(sorted((head, tail)))
        number = seen[pair]
        seen[pair] += 1
        if head == tail:
            curves.append(_loop(start, number))
        elif start[0] == end[0]:
            curves.append(_bent(start, end, np.array([0.3 * (1 + number), 0.0])))
        else:
            passed = [y for x, y in placed.places.values() if (x - start[0]) * (x - end[0]) < 0]
            away = max(passed) + bend * (number + 1) if passed else bend * number
            curves.append(_bent(start, end, np.array([0.0, away])))
    return curves


def _bent(start: np.ndarray, end: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return a parabola whose middle is off the straight line by ``offset``."""
    t = np.linspace(0, 1, _POINTS)[:, None]
    return start + t * (end - start) + 4 * t * (1 - t) * offset


def _loop(place: np.ndarray, number: int) -> np.ndarray:
    turn = np.linspace(-np.pi / 2, 3 * np.pi / 2, _POINTS)
    size = 1 + 0.4 * number
    ellipse = np.column_stack([0.13 * np.cos(turn), 0.3 * (1 + np.sin(turn))])
    return place + size * ellipse
