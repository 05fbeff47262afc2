"""Parts of the graph: random walk with restart, neighbourhood, induced triples.

Defined in numbers.md#5-subgraphs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from scipy.sparse import csr_matrix

from kgdash.errors import KgdashError, unknown_name
from kgdash.files.html import facts_html
from kgdash.graph import DIRECTIONS, SPLITS, KnowledgeGraph
from kgdash.graph.sorted_slices import distinct_rows

SUBGRAPH_METHODS = ("rwr", "neighbourhood")

#: subgraphs that are drawn at once
_MOST = 1_000_000

#: steps without a new entity after which a walk gives up
_PATIENCE = 200_000

#: entities that a notebook names
_SHOWN = 10


@dataclass(frozen=True)
class Subgraph:
    """Entities picked around a seed, and how.

    ``entities`` are ids in the order in which they were reached, the seed first. ``parameters``
    is all that is needed to pick them again. ``note`` says, if anything, why there are fewer than
    asked for.
    """

    graph: KnowledgeGraph
    seed_entity: int
    entities: np.ndarray
    method: str
    parameters: Mapping[str, Any]
    note: str = ""

    def triples(self, splits: Sequence[str] = SPLITS) -> np.ndarray:
        """Return the known triples of ``splits`` with both ends inside: int64 ``(n, 3)``."""
        if set(SPLITS) <= set(splits):
            return self.graph.known().inside(self.entities)
        parts = [np.empty((0, 3), dtype=np.int64)]
        parts += [rows[self.rows_inside(rows)] for rows in (self.graph.splits[s] for s in splits)]
        return distinct_rows(np.concatenate(parts)).rows

    def rows_inside(self, triples: np.ndarray) -> np.ndarray:
        """Return the numbers of the rows of ``triples``, ``(n, 3)``, with both ends inside."""
        inside = np.zeros(self.graph.num_entities, dtype=bool)
        inside[self.entities] = True
        return np.flatnonzero(inside[triples[:, 0]] & inside[triples[:, 2]])

    def __repr__(self) -> str:
        """Name the seed and the size."""
        seed = self.graph.entity_labels[self.seed_entity]
        return f"{len(self.entities)} entities around {seed} in {self.graph.name}"

    def _repr_html_(self) -> str:
        chosen = (f"{name} {value}" for name, value in self.parameters.items())
        labels = [self.graph.entity_labels[entity] for entity in self.entities[:_SHOWN]]
        facts = {
            "graph": self.graph.name,
            "picked by": ", ".join([self.method, *chosen]),
            "entities": f"{len(self.entities):,}: {', '.join(labels)}"
            + " …" * (len(self.entities) > _SHOWN),
            "known triples": f"{len(self.triples()):,}",
        }
        seed = self.graph.entity_labels[self.seed_entity]
        return facts_html(f"Subgraph around {seed}", facts, [self.note] * bool(self.note))

    def named(self) -> dict[str, Any]:
        """Lay out what was picked, and how, as JSON can hold it, with names."""
        return {
            "seed_entity": self.graph.entities[self.seed_entity],
            "method": self.method,
            "parameters": dict(self.parameters),
            "note": self.note,
            "entities": [self.graph.entities[e] for e in self.entities],
        }


@dataclass(frozen=True)
class SubgraphSampling:
    """How subgraphs are picked: ``count`` of them, up to a million, where a study asks for several.

    ``method`` is "rwr" or "neighbourhood"; ``size`` the entities to collect, ≥ 1; ``restart`` of
    the walk, in [0, 1); ``hops`` of the neighbourhood, 1 to 3; ``direction`` one of
    `kgdash.graph.DIRECTIONS`; ``seed`` of the walk and of the seed entities, ≥ 0.

    :raises KgdashError: if the count or the seed is out of range
    """

    count: int = 100
    size: int = 60
    method: str = "rwr"
    restart: float = 0.2
    hops: int = 1
    direction: str = "either"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.count <= _MOST or self.seed < 0:
            raise KgdashError(
                f"expected 1 to {_MOST:,} subgraphs and a seed ≥ 0; found {self.count:,} and "
                f"{self.seed}"
            )

    def pick(self, graph: KnowledgeGraph, entity: int) -> Subgraph:
        """Pick the subgraph around an entity, by id.

        :raises KgdashError: on an unknown method, or a parameter out of range
        """
        if self.method == "rwr":
            return random_walk(graph, entity, self.size, self.restart, self.direction, self.seed)
        if self.method == "neighbourhood":
            return neighbourhood(graph, entity, self.size, self.hops, self.direction)
        raise unknown_name("method", self.method, SUBGRAPH_METHODS, "subgraphs")


class SubgraphOptions(TypedDict, total=False):
    """What `Run.subgraph` takes besides method and size: fields of `SubgraphSampling`."""

    restart: float
    seed: int
    hops: int
    direction: str


def random_walk(
    graph: KnowledgeGraph,
    entity: int,
    size: int = 60,
    restart: float = 0.2,
    direction: str = "either",
    seed: int = 0,
) -> Subgraph:
    """Collect the entities that a random walk with restart visits, until there are enough.

    Defined in numbers.md#5-subgraphs.

    At each step the walk returns to the seed entity with probability ``restart``, else it moves to
    a uniformly random neighbour (back to the seed where there is none). It stops early when all
    that can be reached was visited, or when no new entity came in 200,000 steps.

    :param graph: walked on all its known triples
    :param entity: id of the seed entity
    :param size: entities to collect, ≥ 1
    :param restart: probability in [0, 1)
    :param direction: "either" ignores the direction of triples, "outgoing" follows head → tail,
        "incoming" tail → head
    :param seed: of the random generator: same seed, same subgraph
    :raises KgdashError: if a parameter is out of range
    """
    _check(graph, entity, size, direction)
    if not 0 <= restart < 1:
        raise KgdashError(f"expected a restart probability in [0, 1); found {restart}")
    adjacency = graph.adjacency(direction)
    wanted = _reachable(adjacency, entity, size)
    visited = _walk(adjacency, entity, wanted, restart, np.random.default_rng(seed))
    note = ""
    if len(visited) < wanted:
        note = f"reached {len(visited)} of {size}: no new entity in {_PATIENCE:,} steps"
    elif wanted < size:
        note = f"reached {wanted} of {size}: the seed's component holds no more"
    parameters = {"size": size, "restart": restart, "direction": direction, "seed": seed}
    return Subgraph(graph, entity, visited, "rwr", parameters, note)


def neighbourhood(
    graph: KnowledgeGraph, entity: int, size: int = 60, hops: int = 1, direction: str = "either"
) -> Subgraph:
    """Collect the entities within some hops of an entity, nearest first, then by degree.

    Defined in numbers.md#5-subgraphs.

    :param graph: its known triples are followed
    :param entity: id of the centre
    :param size: at most so many entities, ≥ 1; ties in distance go to the higher degree, then to
        the lower id
    :param hops: 1, 2 or 3
    :param direction: as in `random_walk`
    :raises KgdashError: if a parameter is out of range
    """
    _check(graph, entity, size, direction)
    if hops not in (1, 2, 3):
        raise KgdashError(f"expected 1, 2 or 3 hops; found {hops}")
    adjacency = graph.adjacency(direction)
    distance = np.full(graph.num_entities, -1)
    distance[entity], frontier = 0, np.array([entity])
    for hop in range(1, hops + 1):
        reached = np.unique(adjacency[frontier].indices)
        frontier = reached[distance[reached] < 0]
        distance[frontier] = hop
    near = np.flatnonzero(distance >= 0)
    order = np.lexsort((near, -graph.degrees[near], distance[near]))
    note, reach = "", f"{hops} hop{'s' * (hops > 1)}"
    if len(near) > size:
        note = f"{len(near)} entities within {reach}; kept the {size} nearest, then by degree"
    elif len(near) < size:
        note = f"reached {len(near)} of {size}: no more entities within {reach}"
    parameters = {"size": size, "hops": hops, "direction": direction}
    return Subgraph(graph, entity, near[order][:size], "neighbourhood", parameters, note)


def _reachable(adjacency: csr_matrix, entity: int, most: int) -> int:
    """Count the entities that can be reached, itself among them, up to ``most``."""
    reached, frontier = np.array([entity]), np.array([entity])
    while len(frontier) and len(reached) < most:
        around = np.unique(adjacency[frontier].indices)
        frontier = around[~np.isin(around, reached)]
        reached = np.concatenate([reached, frontier])
    return min(len(reached), most)


def _walk(
    adjacency: csr_matrix, start: int, wanted: int, restart: float, rng: np.random.Generator
) -> np.ndarray:
    visited, order, here, since_new = {start}, [start], start, 0
    starts, neighbours = adjacency.indptr, adjacency.indices
    while len(order) < wanted and since_new < _PATIENCE:
        for jump, pick in zip(*rng.random((2, 1024)).tolist(), strict=True):
            first, last = starts[here], starts[here + 1]
            if jump < restart or first == last:
                here = start
            else:
                here = int(neighbours[first + int(pick * (last - first))])
            since_new += 1
            if here not in visited:
                visited.add(here)
                order.append(here)
                since_new = 0
                if len(order) == wanted:
                    break
    return np.array(order, dtype=np.int64)


def _check(graph: KnowledgeGraph, entity: int, size: int, direction: str) -> None:
    if not 0 <= entity < graph.num_entities:
        raise KgdashError(f"entity id {entity} is not in [0, {graph.num_entities})")
    if size < 1:
        raise KgdashError(f"expected a subgraph size of at least 1 entity; found {size}")
    if direction not in DIRECTIONS:
        raise KgdashError(f"expected a direction out of {', '.join(DIRECTIONS)}; found {direction}")
