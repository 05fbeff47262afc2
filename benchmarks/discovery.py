"""New facts over the whole graph, against the bare scoring of the same candidates.

    python benchmarks/discovery.py [--relations N] [--k K] [RUN ...]   (default: the bundled models)

The first N relations are searched (default: all). Bare scoring computes each of their |E|²·N scores
once, in a cache, and forgets it. By probability both sides' softmax is needed; what is fitted on
validation is not in the figure. CPU seconds of all threads.
"""

import argparse
import time

import measure
import numpy as np

import kgdash
from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import candidate_panels, query_vectors
from kgdash.engine.kernels import count_rows
from kgdash.engine.tasks import no_masks
from kgdash.files.table_cache import clear_cache
from kgdash.runs import Run
from kgdash.studies.probability.calibration import fit_calibration


def bare(run: Run, relations: int) -> None:
    """Score all pairs of entities under some relations."""
    form, everyone = run.scorer.form, np.arange(run.graph.num_entities)
    assert form is not None
    nothing = Thresholds.of(np.zeros(0, np.float32), np.zeros(0, np.int64), len(everyone))
    for relation in range(relations):
        panels = candidate_panels(form, "tail", relation)
        for start in range(0, len(everyone), 960):
            rows = everyone[start : start + 960]
            queries = query_vectors(form, "tail", rows, np.full(len(rows), relation))
            masks, counts = no_masks(len(rows)), nothing.counts()
            blocks, bounds = panels.blocks, nothing.bounds
            count_rows(
                form.kind, queries, len(rows), blocks, panels.count, rows, masks, bounds, counts
            )


def cpu_seconds(work) -> float:
    """Return the CPU seconds of all threads that work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(name: str, relations: int | None, k: int) -> None:
    """Print what a run's new facts take."""
    run = kgdash.load(name)
    count = min(relations or run.graph.num_relations, run.graph.num_relations)
    names = run.graph.relations[:count]
    size = run.graph.num_entities**2 * count
    print(f"{name}: {size:,} triples of {count} relations, the best {k:,}", flush=True)
    fit_calibration(run)
    least = min(cpu_seconds(lambda: bare(run, count)) for _ in range(2))
    print(f"    bare scoring: {least:.2f} CPU s", flush=True)
    for by in ("score", "probability"):
        clear_cache(kind="discovery")
        took = cpu_seconds(lambda by=by: run.discover(k, by, relations=names))
        print(f"    by {by}: {took:.2f} CPU s = {took / least:.2f} × bare", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--relations", type=int)
    parser.add_argument("--k", type=int, default=1000)
    parser.add_argument("runs", nargs="*", default=measure.SIX)
    arguments = parser.parse_args()
    print(measure.machine())
    for chosen in arguments.runs:
        compare(chosen, arguments.relations, arguments.k)
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
