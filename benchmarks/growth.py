"""How the cost of exact ReliK grows with triples, entities and dimension.

    python benchmarks/growth.py [RUN]      (default: umls-distmult)

Triples: random triples of the run's graph, from 200 to all of them. Entities and dimension:
random DistMult and TransE models on random graphs, whose weights and facts mean nothing, but whose
cost is that of real ones of their size.
"""

import sys

import measure
import numpy as np
import torch
from pykeen.models import DistMult, TransE
from pykeen.triples import CoreTriplesFactory

import kgdash
from kgdash.graph.known_triples import KnownTriples
from kgdash.ranking.relik_exact import relik_exact
from kgdash.scoring.kernel_scorer import fastest_scorer

ENTITIES, RELATIONS, FACTS, EVALUATED = 2_000, 20, 20_000, 500


def by_triples(name: str) -> None:
    """Print the time for more and more triples of a run's graph."""
    run = kgdash.load(name)
    triples, known = run.graph.all_triples, run.graph.known()
    order = np.random.default_rng(0).permutation(len(triples))
    sizes = [n for n in (200, 1_000, 5_000, 20_000, 100_000) if n < len(triples)]
    print(f"{name}, triples:")
    for size in [*sizes, len(triples)]:
        part = triples[order[:size]]
        time = measure.median_seconds(lambda p=part: relik_exact(run.scorer, p, known), 3)
        anchors = sum(len(np.unique(part[:, column])) for column in (0, 2))
        print(f"    {size:9,} ({anchors:7,} heads and tails) {time:9.3f} s", flush=True)


def synthetic(model: type, entities: int, dimension: int) -> float:
    """Time a random model on a random graph."""
    rng = np.random.default_rng(0)
    facts = rng.integers(0, (entities, RELATIONS, entities), size=(FACTS, 3))
    factory = CoreTriplesFactory(
        torch.from_numpy(facts), num_entities=entities, num_relations=RELATIONS
    )
    scorer, _ = fastest_scorer(
        model(triples_factory=factory, embedding_dim=dimension, random_seed=0)
    )
    known = KnownTriples(facts, entities, RELATIONS)
    return measure.median_seconds(lambda: relik_exact(scorer, facts[:EVALUATED], known), 3)


if __name__ == "__main__":
    print(measure.machine())
    by_triples(sys.argv[1] if len(sys.argv) > 1 else "umls-distmult")
    for model in (DistMult, TransE):
        print(f"{model.__name__}, random, {EVALUATED} triples, {RELATIONS} relations:")
        base = synthetic(model, ENTITIES, 50)
        for factor in (1, 4, 16):
            time = synthetic(model, ENTITIES * factor, 50)
            print(
                f"    |E| {ENTITIES * factor:7,} dimension  50 {time:9.3f} s {time / base:6.1f}x",
                flush=True,
            )
        for dimension in (50, 100, 200, 400):
            time = synthetic(model, ENTITIES, dimension)
            print(
                f"    |E| {ENTITIES:7,} dimension {dimension:3} {time:9.3f} s {time / base:6.1f}x",
                flush=True,
            )
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
