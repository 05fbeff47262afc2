"""Exact ReliK against a loop per triple, and against the bare scoring of the same candidates.

    python benchmarks/relik.py [--entities N] [--local] [RUN ...]   (default: the bundled models)

- The loop is how ReliK is often computed: per triple, all its negatives scored by score_hrt in
  batches and sorted. It is timed on a few triples and extrapolated.
- The bare scoring is what any exact method must at least do: a matrix product (torch.mm), or the
  fused distance kernel, over the |E|²·|R| candidates, each score once. It is timed on a few
  relations, the best of torch's and ours, and extrapolated to all.
- A subgraph of N entities (random walk, by default 60) shows what a user waits for: the sampled
  figure, the exact one, and the exact one from the cache.
"""

import argparse
from collections.abc import Callable

import measure
import numpy as np
import torch

import kgdash
from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import InteractionForm, candidate_panels, query_vectors
from kgdash.engine.kernels import count_rows
from kgdash.engine.microkernels import DOT, L1
from kgdash.engine.tasks import no_masks
from kgdash.engine.workers import run_in_threads
from kgdash.files.table_cache import clear_cache
from kgdash.progress import silent
from kgdash.ranking.relik_exact import relik_exact
from kgdash.runs import Run

LOOPED, RELATIONS = 3, 5
#: rows of a matrix product or of a block of distances; the fastest counts
ROWS = (96, 384, 1536)


def looped(run: Run, triples: np.ndarray) -> None:
    """Rank each triple among its negatives, one triple and side at a time."""
    entities, relations = run.graph.num_entities, run.graph.num_relations
    grid = np.stack(np.meshgrid(np.arange(relations), np.arange(entities), indexing="ij"), -1)
    relation, entity = grid.reshape(-1, 2).T
    known = run.graph.known()
    for triple in triples:
        for columns in (
            (np.full_like(entity, triple[0]), relation, entity),
            (entity, relation, np.full_like(entity, triple[2])),
        ):
            candidates = np.stack(columns, axis=1)
            negatives = np.concatenate([triple[None], candidates[~known.contains(candidates)]])
            with torch.inference_mode():
                scores = torch.cat(
                    [
                        run.scorer.model.score_hrt(part).squeeze(-1)
                        for part in torch.from_numpy(negatives).split(8192)
                    ]
                )
            order = torch.sort(scores, descending=True).indices
            int((order == 0).nonzero()[0, 0])


def bare(form: InteractionForm) -> tuple[str, float]:
    """Return the fastest way to score each candidate once, and its seconds for all of them."""
    entities = form.num_entities
    everyone = np.arange(entities)
    relations = range(min(RELATIONS, form.num_relations))
    nothing = Thresholds.of(np.zeros(0, np.float32), np.zeros(0, np.int64), entities)

    def kernel() -> None:
        for relation in relations:
            panels = candidate_panels(form, "tail", relation)

            def work(start: int, _: None, panels=panels, relation=relation) -> float:
                rows = everyone[start : start + 960]
                queries = query_vectors(form, "tail", rows, np.full(len(rows), relation))
                masks, counts = no_masks(len(rows)), nothing.counts()
                count_rows(
                    form.kind,
                    queries,
                    len(rows),
                    panels.blocks,
                    panels.count,
                    rows,
                    masks,
                    nothing.bounds,
                    counts,
                )
                return 1.0

            run_in_threads(range(0, entities, 960), work, lambda: None, 1.0, silent)

    def product(size: int) -> None:
        out = torch.empty(size, entities)
        for relation in relations:
            queries = torch.from_numpy(
                query_vectors(form, "tail", everyone, everyone * 0 + relation)
            )
            vectors = form.vectors(
                "tail", torch.arange(entities), torch.full((entities,), relation)
            )
            for start in range(0, entities, size):
                rows = min(size, entities - start)
                torch.mm(queries[start : start + rows], vectors.T, out=out[:rows])

    def distances(size: int) -> None:
        for relation in relations:
            queries = torch.from_numpy(
                query_vectors(form, "tail", everyone, everyone * 0 + relation)
            )
            vectors = form.vectors(
                "tail", torch.arange(entities), torch.full((entities,), relation)
            )
            p = 1.0 if form.kind == L1 else 2.0
            torch.cdist(queries[:size], vectors, p, "donot_use_mm_for_euclid_dist")

    scale = form.num_relations / len(relations)
    ways: dict[str, Callable[[], float]] = {
        "kernel": lambda: measure.median_seconds(kernel, 3) * scale
    }
    for size in ROWS:
        if form.kind == DOT:
            ways[f"torch.mm of {size} rows"] = lambda size=size: (
                measure.median_seconds(lambda: product(size), 3) * scale
            )
        else:
            part = min(size, entities) / entities
            ways[f"torch.cdist of {size} rows"] = lambda size=size, part=part: (
                measure.median_seconds(lambda: distances(size), 3) * scale / part
            )
    times = {name: work() for name, work in ways.items()}
    print("    bare scoring: " + ", ".join(f"{n} {t:.2f} s" for n, t in times.items()), flush=True)
    name = min(times, key=lambda n: times[n])
    return name, times[name]


def compare(name: str, entities: int, local_only: bool) -> None:
    """Print what a run's ReliK takes."""
    run = kgdash.load(name)
    known, everything = run.graph.known(), run.graph.all_triples
    seed = run.graph.entities[int(run.graph.degrees.argmax())]
    inside = run.subgraph(seed, size=entities).triples()
    known.contains(inside)
    print(f"{name}: {run.graph.num_entities:,} entities, {run.graph.num_relations:,} relations")
    figures = []
    for method in ("sampled", "exact"):
        clear_cache()
        figures.append(measure.seconds(lambda m=method: run.relik(triples=inside, method=m)))
    figures.append(measure.seconds(lambda: run.relik(triples=inside)))
    print(
        f"    {entities} entities, {len(inside):,} triples: sampled {figures[0]:.3f} s, exact "
        f"{figures[1]:.3f} s, again {figures[2]:.3f} s",
        flush=True,
    )
    if local_only:
        return
    before = measure.peak_mebibytes()
    whole = measure.median_seconds(lambda: relik_exact(run.scorer, everything, known), 3)
    more = measure.peak_mebibytes() - before
    slow = measure.median_seconds(lambda: looped(run, everything[:LOOPED]), 3)
    slow *= len(everything) / LOOPED
    print(
        f"    all {len(everything):,} triples: exact {whole:.3f} s, {more:+,.0f} MiB; loop per "
        f"triple (extrapolated from {LOOPED}) {slow:,.0f} s = {slow / whole:,.0f}x",
        flush=True,
    )
    form = run.scorer.form
    if form is not None and form.one_function:
        way, least = bare(form)
        print(f"    exact / bare scoring ({way}): {whole / least:.2f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=60)
    parser.add_argument("--local", action="store_true", help="only the subgraph")
    parser.add_argument("runs", nargs="*", default=measure.SIX)
    arguments = parser.parse_args()
    print(measure.machine())
    for chosen in arguments.runs:
        compare(chosen, arguments.entities, arguments.local)
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
