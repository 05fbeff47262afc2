"""What ranks and exact ReliK cost: processor seconds by entities, triples and dimension, fitted.

    python benchmarks/cost.py [--entities N ...] [--model DistMult|TransE]

Graphs of synthetic_graph.py's shape in memory, as many test triples or heads and tails of each as
a few seconds take. Scores times (a · K + b), K multiply-adds a score, are fitted to ranks and to
ReliK by least squares of the ratios, which are printed; then what was measured elsewhere
(README.md) beside what the fit says of it, and times of whole jobs on 1, 10 and 100 nodes.

Scores of ranks: six queries are scored at once, those of head sides of one relation. So n triples
count as |E| times n tails' queries and each relation's heads' queries rounded up to six.
"""

import argparse
import time
from dataclasses import dataclass

import measure
import numpy as np
import synthetic_graph
import torch
from pykeen.models import DistMult, TransE
from pykeen.triples import CoreTriplesFactory

from kgdash.engine.counting import count_negatives, count_ranks
from kgdash.engine.form import InteractionForm
from kgdash.graph.known_triples import KnownTriples
from kgdash.scoring.kernel_scorer import fastest_scorer

MODELS = {"DistMult": DistMult, "TransE": TransE}

#: entities, dimensions, triples per entity as Wikidata5M has them
ENTITIES, DIMENSIONS, DENSITY = (10_000, 100_000, 1_000_000), (32, 64, 128), 4.5
RELATIONS = 822

#: multiply-adds of a measurement of ReliK and of ranks, about; test triples at most
WORK, RANKED, TESTED = 3e10, 2e11, 5_163

#: queries that are scored at once
AT_ONCE = 6

#: ranks measured by scale.py, not fitted (README.md): name, |E|, relations tested, test triples,
#: dimension, processor seconds
ELSEWHERE = (
    ("filtered", 4_538_496, 707, 4_785, 128, 270.0),
    ("raw", 1_000_000, 707, 5_163, 128, 51.6),
)

#: exact ReliK of all triples, not fitted: trained DistMult of another run of this machine
ELSEWHERE_RELIK = ("FB15k-237", 14_505, 237, 100, 376.0)

#: graphs of the table: name, |E|, |R|, test triples, dimension
GRAPHS = (
    ("FB15k-237", 14_541, 237, 20_438, 128),
    ("YAGO3-10", 123_182, 37, 5_000, 128),
    ("10⁶ entities", 1_000_000, 822, 5_163, 128),
    ("Wikidata5M", 4_594_485, 822, 5_163, 128),
)

#: assumed: cores of a node, share of them that counts (the driver and uneven ends take the rest),
#: seconds until a worker has opened the run
CORES, USED, OPENED = 16, 0.85, 15.0


@dataclass(frozen=True)
class Measured:
    """One measurement: ``scores`` of ``dimension`` multiply-adds each took ``seconds``."""

    job: str
    entities: int
    dimension: int
    scores: float
    seconds: float


def graph_of(entities: int) -> tuple[np.ndarray, KnownTriples]:
    """Make a graph's triples and their index."""
    rows = synthetic_graph.triples(entities, RELATIONS, int(DENSITY * entities))
    return rows, KnownTriples(rows, entities, RELATIONS)


def form_of(model: str, entities: int, dimension: int) -> InteractionForm:
    """Make the form of a model with the vectors of synthetic_graph.py."""
    few = torch.tensor([[0, 0, 1]])
    factory = CoreTriplesFactory(few, num_entities=entities, num_relations=RELATIONS)
    made = MODELS[model](triples_factory=factory, embedding_dim=dimension, random_seed=0)
    with torch.no_grad():
        for part, values in zip(
            (made.entity_representations, made.relation_representations),
            synthetic_graph.vectors(entities, RELATIONS),
            strict=True,
        ):
            part[0]._embeddings.weight.copy_(torch.from_numpy(values[:, :dimension]))
    form = fastest_scorer(made)[0].form
    assert form is not None
    return form


def padded(triples: np.ndarray) -> float:
    """Return how many queries of both sides are scored, those together that can be."""
    tails = len(np.unique(triples[:, :2], axis=0))
    heads = np.bincount(np.unique(triples[:, 1:], axis=0)[:, 0])
    return float(tails + AT_ONCE * np.ceil(heads / AT_ONCE).sum())


def measure_at(
    model: str, entities: int, dimension: int, rows: np.ndarray, known: KnownTriples
) -> list[Measured]:
    """Count ranks of some triples, and negatives around some heads and tails, of both sides."""
    form, rng = form_of(model, entities, dimension), np.random.default_rng(0)
    found = []
    size = min(TESTED, len(rows), round(RANKED / (2.0 * entities * dimension)))
    tested = rows[rng.choice(len(rows), size, replace=False)]
    anchors = max(2, round(WORK / (2.0 * entities * RELATIONS * dimension)))
    for job in ("ranks", "ReliK"):
        seconds, scores = 0.0, padded(tested) * entities if job == "ranks" else 0.0
        for side, column in (("head", 0), ("tail", 2)):
            own = tested
            if job == "ReliK":
                # Each as likely: ReliK of the whole graph counts around each once.
                drawn = rng.choice(np.unique(rows[:, column]), anchors, replace=False)
                own = rows[np.isin(rows[:, column], drawn)]
                scores += float(len(drawn)) * RELATIONS * entities
            count = count_ranks if job == "ranks" else count_negatives
            start = time.process_time()
            count(form, own, known, side)
            seconds += time.process_time() - start
        found.append(Measured(job, entities, dimension, scores, seconds))
        print(
            f"    {job:6} |E| {entities:9,} K {dimension:4} {scores:9.2e} scores "
            f"{seconds:8.2f} s CPU  {1e9 * seconds / scores:7.3f} ns a score",
            flush=True,
        )
    return found


def fit(found: list[Measured]) -> np.ndarray:
    """Fit seconds a score, a · K + b, b ≥ 0, so that ratios of fitted and measured are near 1."""
    each = np.array([m.seconds / m.scores for m in found])
    design = np.array([[m.dimension, 1.0] for m in found]) / each[:, None]
    solved = np.linalg.lstsq(design, np.ones(len(found)), rcond=None)[0]
    if solved[1] < 0:
        solved = np.array([design[:, 0].sum() / (design[:, 0] ** 2).sum(), 0.0])
    return np.asarray(solved)


def queries(tested: int, relations: int) -> float:
    """Guess `padded` of n triples of some relations: each rounds up by half of six on average."""
    return 2.0 * tested + AT_ONCE / 2 * min(relations, tested)


def told(seconds: float) -> str:
    """Write a time for people."""
    for size, name in ((86400 * 365, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:,.1f} s"


def main(model: str, sizes: list[int]) -> None:
    """Measure, fit, hold against what was measured elsewhere, predict."""
    print(measure.machine())
    found = []
    for entities in sizes:
        rows, known = graph_of(entities)
        for dimension in DIMENSIONS:
            found += measure_at(model, entities, dimension, rows, known)
    fitted = {}
    for job in ("ranks", "ReliK"):
        own = [m for m in found if m.job == job]
        slope, offset = fitted[job] = fit(own)
        ratios = [(slope * m.dimension + offset) * m.scores / m.seconds for m in own]
        formula = f"scores · ({1e12 * slope:.1f} ps · K + {1e9 * offset:.2f} ns)"
        print(f"{model}, {job}: CPU seconds = {formula}")
        print("    fitted / measured:", " ".join(f"{ratio:.2f}" for ratio in ratios))
        print(f"    worst: {min(ratios):.2f} and {max(ratios):.2f}")
    if model == "DistMult":
        for name, entities, relations, tested, dimension, seconds in ELSEWHERE:
            slope, offset = fitted["ranks"]
            guess = queries(tested, relations) * entities * (slope * dimension + offset)
            print(f"ranks, {name}, of {entities:,}: fitted / measured {guess / seconds:.2f}")
        name, entities, relations, dimension, seconds = ELSEWHERE_RELIK
        slope, offset = fitted["ReliK"]
        guess = 2.0 * entities**2 * relations * (slope * dimension + offset)
        print(f"ReliK of {name}: fitted / measured {guess / seconds:.2f}")
    for name, entities, relations, tested, dimension in GRAPHS:
        of_ranks = queries(tested, relations) * entities
        scores = {"ranks": of_ranks, "ReliK": 2.0 * entities**2 * relations}
        for job, count in scores.items():
            slope, offset = fitted[job]
            seconds = count * (slope * dimension + offset)
            times = [OPENED + seconds / (CORES * USED * nodes) for nodes in (1, 10, 100)]
            print(f"{name:14} {job:6} {told(seconds):>12} CPU", *map(told, times), sep=" | ")
    print(f"peak memory of the process: {measure.peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, nargs="+", default=list(ENTITIES))
    parser.add_argument("--model", choices=list(MODELS), default="DistMult")
    chosen = parser.parse_args()
    main(chosen.model, chosen.entities)
