"""How long breaking ranks down takes: of FB15k-237's test set in size, and of two million ranks.

    python benchmarks/breakdowns.py [RANKS ...] [--by GROUPING ...]

Ranks and graph are random, of FB15k-237's shape: 14,505 entities, 237 relations of very unequal
size, 272,115 train triples; what they mean does not change what they cost.
"""

import argparse

import measure
import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.grouping import GROUPINGS
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.graph import KnowledgeGraph
from kgdash.graph.relation_patterns import relation_kinds

ENTITIES, RELATIONS, TRAIN = 14_505, 237, 272_115


def random_triples(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw triples whose entities and relations are as unequal as real ones: ``(count, 3)``."""
    sizes = (ENTITIES, RELATIONS, ENTITIES)
    columns = [(size * rng.random(count) ** 2.5).astype(np.int64) for size in sizes]
    return np.unique(np.stack(columns, axis=1), axis=0)


def random_graph(rng: np.random.Generator) -> KnowledgeGraph:
    """Make a graph of FB15k-237's size."""
    entities, relations = (
        tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("e", ENTITIES), ("r", RELATIONS))
    )
    nothing = np.empty((0, 3), dtype=np.int64)
    splits = {"train": random_triples(rng, TRAIN), "valid": nothing, "test": nothing}
    return KnowledgeGraph("random", entities, relations, splits, entities, relations)


def random_ranks(rng: np.random.Generator, count: int) -> pd.DataFrame:
    """Make a table of ``count`` ranks, half of them of each side, a tenth of them tied."""
    triples = rng.integers(0, (ENTITIES, RELATIONS, ENTITIES), size=(count // 2, 3))
    parts = []
    for side in ("head", "tail"):
        part = pd.DataFrame(triples, columns=["head", "relation", "tail"]).assign(side=side)
        part["optimistic"] = np.exp(rng.random(len(part)) * np.log(ENTITIES)).astype(np.int64)
        part["pessimistic"] = part["optimistic"] + (rng.random(len(part)) < 0.1)
        part["realistic"] = (part["optimistic"] + part["pessimistic"]) / 2
        part["candidates"] = ENTITIES
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def print_times(ranks: pd.DataFrame, graph: KnowledgeGraph, groupings: list[str]) -> None:
    """Print what finding the groups and each breakdown take."""
    rows = add_rank_facts(ranks, graph)
    seconds = measure.median_seconds(lambda: add_rank_facts(ranks, graph), 3)
    print(f"    finding groups   {seconds:.3f} s")
    for by in groupings:
        plain, drawn = (
            measure.median_seconds(lambda b=by, v=level: breakdown(rows, b, level=v), 3)
            for level in (None, 0.95)
        )
        print(f"    {by:16} {plain:.3f} s, with intervals {drawn:.3f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--by", choices=list(GROUPINGS), nargs="*", default=list(GROUPINGS))
    parser.add_argument("ranks", type=int, nargs="*", default=(40_932, 2_000_000))
    arguments = parser.parse_args()
    print(measure.machine())
    rng = np.random.default_rng(0)
    graph = random_graph(rng)
    print(f"cardinality, patterns: {measure.median_seconds(lambda: relation_kinds(graph)):.3f} s")
    for count in arguments.ranks:
        print(f"{count:,} ranks:")
        print_times(random_ranks(rng, count), graph, arguments.by)
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
