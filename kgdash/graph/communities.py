"""Communities: densely connected groups of entities, and what is in them.

Blondel, Guillaume, Lambiotte and Lefebvre, "Fast unfolding of communities in large networks", 2008.
"""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.files.table_cache import cached_table
from kgdash.graph.knowledge_graph import KnowledgeGraph
from kgdash.graph.python_call import python_call
from kgdash.progress import Progress, silent

#: bytes that the search takes for each triple and each entity (measured on FB15k-237, and on a
#: graph of 1.45 million entities and three triples), and times `memory_budget` that it may take
_TRIPLE, _ENTITY, _TIMES = 600, 3000, 4

#: entities and relations that describe a community, and characters that its name may have
_SHOWN, _LENGTH = 3, 60


def find_communities(
    graph: KnowledgeGraph, resolution: float = 1.0, seed: int = 0, progress: Progress = silent
) -> np.ndarray:
    """Divide the entities into communities, which are densely connected; kept on disk.

    Louvain's method (Blondel et al. 2008, `networkx.community`) on all known
    triples without direction and loops, each pair of entities as often as triples join it.

    :param resolution: > 0; the higher, the more and the smaller they are
    :param seed: of the order in which entities are looked at, ≥ 0
    :param progress: called with (0, 1) while it takes; may raise to cancel
    :return: int64, shape ``(|E|,)``: the community of each entity, 0 being the largest
    :raises KgdashError: if the resolution is not above 0, or the graph takes too much memory
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


def communities_fit(graph: KnowledgeGraph) -> bool:
    """Tell whether the search takes no more than four times `memory_budget`."""
    return _bytes(graph) <= _TIMES * memory_budget()


def _bytes(graph: KnowledgeGraph) -> int:
    return len(graph.known()) * _TRIPLE + graph.num_entities * _ENTITY


@dataclass(frozen=True)
class Community:
    """What a group of entities is called, and what is in it.

    ``central``: ids, int64: the three entities with the most known triples inside, these first,
    equal ones by id. ``label``: their labels, told apart, as far as 60 characters reach, at least
    one. ``relations``: those of the three most frequent relations inside.
    """

    central: np.ndarray
    label: str
    relations: str


def describe_communities(
    graph: KnowledgeGraph, communities: np.ndarray, wanted: list[int]
) -> dict[int, Community]:
    """Name and describe some communities by what is in them.

    :param communities: of `find_communities`
    :param wanted: their numbers
    """
    heads, relations, tails = graph.all_triples.T
    inside = communities[heads] == communities[tails]
    others = inside & (heads != tails)
    degrees = np.bincount(
        np.concatenate([heads[inside], tails[others]]), minlength=graph.num_entities
    )
    # Only what is there: communities × relations may be gigabytes.
    codes = communities[heads[inside]] * graph.num_relations + relations[inside]
    codes, counts = np.unique(codes, return_counts=True)
    about, entity_name = {}, graph.entity_lookup.distinct_label
    relation_name = graph.relation_lookup.distinct_label
    # All at once: a graph may have as many communities as entities.
    order = np.flatnonzero(np.isin(communities, wanted))
    order = order[np.argsort(communities[order], kind="stable")]
    ends = np.searchsorted(communities[order], np.add.outer(wanted, [0, 1]))
    for number, (begin, end) in zip(wanted, ends.tolist(), strict=True):
        members = order[begin:end]
        central = members[np.argsort(-degrees[members], kind="stable")][:_SHOWN]
        first = number * graph.num_relations
        here = slice(*np.searchsorted(codes, [first, first + graph.num_relations]))
        frequent = codes[here][np.argsort(-counts[here], kind="stable")[:_SHOWN]] - first
        about[number] = Community(
            central,
            _joined([entity_name(entity) for entity in central.tolist()]),
            ", ".join(relation_name(relation) for relation in frequent.tolist()),
        )
    return about


def describe_members(graph: KnowledgeGraph, members: np.ndarray) -> Community:
    """Name and describe a group of entities as communities are.

    :param members: ids, at least one
    """
    inside = np.zeros(graph.num_entities, dtype=np.int64)
    inside[members] = 1
    return describe_communities(graph, inside, [1])[1]


def _joined(labels: list[str]) -> str:
    """Join labels, the first ones if all are too long."""
    names = [", ".join(labels[:count]) for count in range(len(labels), 0, -1)]
    return next((name for name in names if len(name) <= _LENGTH), names[-1])


def _louvain(graph: KnowledgeGraph, resolution: float, seed: int, progress: Progress) -> np.ndarray:
    if not communities_fit(graph):
        raise KgdashError(
            f"communities of {graph.name} would take some {_bytes(graph) / 2**30:,.0f} GiB of "
            "memory: give KGDASH_MEMORY a quarter of that, or group entities by types"
        )
    pairs, times = _joined_pairs(graph)

    def search() -> list[set[int]]:
        joined = nx.Graph()
        joined.add_nodes_from(range(graph.num_entities))
        # A list of lists would take half a second of all threads' time.
        joined.add_weighted_edges_from(
            zip(*(each.tolist() for each in (*pairs, times)), strict=True)
        )
        found: list[set[int]] = nx.community.louvain_communities(
            joined, resolution=resolution, seed=seed
        )
        return found

    communities = np.empty(graph.num_entities, dtype=np.int64)
    found = python_call(search, progress)
    by_size = sorted(found, key=lambda members: (-len(members), min(members)))
    for number, members in enumerate(by_size):
        communities[list(members)] = number
    return communities


def _joined_pairs(graph: KnowledgeGraph) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the pairs of entities that triples join, in order, and how many join each."""
    low, high = np.sort(graph.all_triples[:, [0, 2]], axis=1).T
    keys = np.sort((low * graph.num_entities + high)[low != high])
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return np.divmod(keys[first], max(graph.num_entities, 1)), np.diff(first, append=len(keys))
