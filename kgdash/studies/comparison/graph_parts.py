"""Parts of a graph where models can be compared: communities, subgraphs, relations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from kgdash.errors import KgdashError, check_name
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import describe_communities, find_communities
from kgdash.graph.sorted_slices import distinct
from kgdash.graph.subgraph import Subgraph, SubgraphSampling
from kgdash.graph.triples_inside import triples_inside
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.studies.reliability.subgraph_table import default_size, draw_subgraphs

#: kind of parts -> where a triple counts
PARTS = {
    "communities": "where it has an end",
    "subgraphs": "where it has both ends",
    "relations": "for its relation",
}


@dataclass(frozen=True)
class Partition:
    """Partition of a graph, by one of `PARTS`.

    ``names``: one per part, no two equal. ``communities``: of `find_communities`, for these;
    ``subgraphs``: as drawn, for subgraphs.
    """

    kind: str
    graph: KnowledgeGraph
    names: tuple[str, ...]
    communities: np.ndarray | None = None
    subgraphs: tuple[Subgraph, ...] = ()

    @cached_property
    def entities(self) -> np.ndarray:
        """Count the entities of each part, those of its known triples for relations: int64."""
        if self.communities is not None:
            return np.bincount(self.communities, minlength=len(self.names))
        if self.kind == "subgraphs":
            return np.array([len(part.entities) for part in self.subgraphs], dtype=np.int64)
        heads, relations, tails = self.graph.all_triples.T
        ends = np.concatenate([relations * self.graph.num_entities + e for e in (heads, tails)])
        return np.bincount(distinct(ends) // self.graph.num_entities, minlength=len(self.names))

    def inside(self, triples: np.ndarray) -> sparse.csr_array:
        """Tell which triples are in which part.

        :param triples: ids, shape ``(n, 3)``
        :return: 0 and 1 as float64, shape ``(parts, n)``
        """
        if self.kind == "subgraphs":
            return triples_inside(self.subgraphs, triples).matrix()
        heads, relations, tails = triples.T
        at = np.arange(len(triples))
        if self.communities is not None:
            ends = self.communities[heads], self.communities[tails]
            other = ends[0] != ends[1]
            parts, columns = np.concatenate([ends[0], ends[1][other]]), np.append(at, at[other])
        else:
            parts, columns = relations, at
        shape = (len(self.names), len(triples))
        return sparse.csr_array((np.ones(len(parts)), (parts, columns)), shape=shape)


def find_parts(
    run: Run,
    kind: str = "communities",
    resolution: float = 1.0,
    sampling: SubgraphSampling | None = None,
    progress: Progress = silent,
) -> Partition:
    """Divide a graph into parts, or draw them.

    :param kind: one of `PARTS`: "communities" (of `find_communities`), "subgraphs" (random walks,
        of `draw_subgraphs`) or "relations"
    :param resolution: of communities, > 0
    :param sampling: of subgraphs; its seed is that of communities too; default: 100 walks of
        `default_size`
    :raises KgdashError: if the kind is unknown, or a number out of range
    """
    sampling = sampling or SubgraphSampling(size=default_size(run))
    graph = run.graph
    check_name("kind of parts", kind, PARTS, "model selection")
    if kind == "relations":
        labels = graph.relation_lookup.distinct_labels(np.arange(graph.num_relations))
        return Partition(kind, graph, tuple(labels))
    if kind == "communities":
        communities = find_communities(graph, resolution, sampling.seed, progress)
        numbers = list(range(int(communities.max()) + 1))
        about = describe_communities(graph, communities, numbers)
        names = [about[number].label for number in numbers]
        return Partition(
            kind, graph, _distinct(names, [f"community {n}" for n in numbers]), communities
        )
    if sampling.size < 2:
        raise KgdashError(f"expected subgraphs of at least 2 entities; found {sampling.size}")
    drawn = draw_subgraphs(run, sampling, progress)
    names = [graph.entity_labels[part.seed_entity] for part in drawn]
    numbered = [f"walk {number}" for number in range(1, len(drawn) + 1)]
    return Partition(kind, graph, _distinct(names, numbered), subgraphs=tuple(drawn))


def _distinct(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Add another name in brackets to names that several have."""
    times = Counter(names)
    pairs = zip(names, others, strict=True)
    return tuple(name if times[name] == 1 else f"{name} ({other})" for name, other in pairs)
