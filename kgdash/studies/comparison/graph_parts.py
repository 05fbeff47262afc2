"""Parts of a graph that several models can be asked about: communities, subgraphs, relations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from kgdash.errors import KgdashError, unknown_name
from kgdash.graph import KnowledgeGraph
from kgdash.graph.communities import find_regions, region_descriptions
from kgdash.graph.subgraph import Subgraph, SubgraphSampling, triples_inside
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
class Parts:
    """Parts of a graph, by one of `PARTS`.

    ``names``: one per part, no two equal. ``regions``: of `find_regions`, for communities;
    ``subgraphs``: as drawn, for subgraphs.
    """

    kind: str
    graph: KnowledgeGraph
    names: tuple[str, ...]
    regions: np.ndarray | None = None
    subgraphs: tuple[Subgraph, ...] = ()

    @cached_property
    def entities(self) -> np.ndarray:
        """Count the entities of each part, those of its known triples for relations: int64."""
        if self.regions is not None:
            return np.bincount(self.regions, minlength=len(self.names))
        if self.kind == "subgraphs":
            return np.array([len(part.entities) for part in self.subgraphs], dtype=np.int64)
        heads, relations, tails = self.graph.all_triples.T
        ends = np.concatenate([relations * self.graph.num_entities + e for e in (heads, tails)])
        return np.bincount(np.unique(ends) // self.graph.num_entities, minlength=len(self.names))

    def inside(self, triples: np.ndarray) -> sparse.csr_array:
        """Tell which triples are in which part.

        :param triples: ids, shape ``(n, 3)``
        :return: 0 and 1 as float64, shape ``(parts, n)``
        """
        if self.kind == "subgraphs":
            return triples_inside(self.subgraphs, triples)
        heads, relations, tails = triples.T
        at = np.arange(len(triples))
        if self.regions is not None:
            ends = self.regions[heads], self.regions[tails]
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
    count: int = 100,
    size: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Parts:
    """Divide a graph into parts, or draw them.

    :param run: of the graph
    :param kind: one of `PARTS`: "communities" (of `find_regions`), "subgraphs" (random walks, of
        `draw_subgraphs`) or "relations"
    :param resolution: of communities, > 0
    :param count: of subgraphs, ≥ 1
    :param size: of subgraphs, in entities; default: that of the study
    :param seed: of communities and subgraphs, ≥ 0
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: if the kind is unknown, or a number out of range
    """
    graph = run.graph
    if kind not in PARTS:
        raise unknown_name("kind of parts", kind, list(PARTS), "the choice of models")
    if kind == "relations":
        return Parts(kind, graph, _distinct(graph.relation_labels, graph.relations))
    if kind == "communities":
        regions = find_regions(graph, resolution, seed, progress)
        numbers = list(range(int(regions.max()) + 1))
        told = region_descriptions(graph, regions, numbers)
        names = [told[number][0] for number in numbers]
        return Parts(kind, graph, _distinct(names, [f"region {n}" for n in numbers]), regions)
    if size is not None and size < 2:
        raise KgdashError(f"expected subgraphs of at least 2 entities; found {size}")
    drawn = draw_subgraphs(
        run,
        SubgraphSampling(count, default_size(run) if size is None else size, seed=seed),
        progress,
    )
    names = [graph.entity_labels[part.seed_entity] for part in drawn]
    numbered = [f"walk {number}" for number in range(1, len(drawn) + 1)]
    return Parts(kind, graph, _distinct(names, numbered), subgraphs=tuple(drawn))


def _distinct(names: list[str] | tuple[str, ...], others: list[str] | tuple[str, ...]) -> tuple:
    """Add another name in brackets to names that several have."""
    times = Counter(names)
    pairs = zip(names, others, strict=True)
    return tuple(name if times[name] == 1 else f"{name} ({other})" for name, other in pairs)
