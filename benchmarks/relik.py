"""Exact ReliK against a loop per triple, and what a subgraph costs.

    python benchmarks/relik.py [RUN ...]      (default: the six bundled models)

The loop is how ReliK is often computed: per triple, all its negatives scored by score_hrt in
batches and sorted. It is timed on a few triples and extrapolated, which the table says.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from measure import machine, median_seconds, peak_mebibytes  # noqa: E402

import kgdash  # noqa: E402
from kgdash.relik import relik_exact  # noqa: E402
from kgdash.runs import Run  # noqa: E402

SIX = ("transe", "distmult", "rotate", "pairre", "complex", "conve")
LOOPED = 5


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
            parts = torch.from_numpy(negatives).split(8192)
            scores = torch.cat([run.scorer.score_triples(part) for part in parts])
            order = torch.sort(scores, descending=True).indices
            int((order == 0).nonzero()[0, 0])


def compare(name: str) -> None:
    """Print one line per run."""
    run = kgdash.load(name)
    known, everything = run.graph.known(), run.graph.all_triples
    inside = run.subgraph(run.graph.entities[0], size=60).triples()
    whole = median_seconds(lambda: relik_exact(run.scorer, everything, known), 3)
    local = median_seconds(lambda: relik_exact(run.scorer, inside, known), 5)
    slow = median_seconds(lambda: looped(run, everything[:LOOPED]), 3) / LOOPED * len(everything)
    print(
        f"{name:16} {local:7.3f} s ({len(inside):5,}) {whole:7.3f} s ({len(everything):6,}) "
        f"{slow:9.1f} s {slow / whole:8.0f}x"
    )


if __name__ == "__main__":
    print(machine())
    print(
        f"{'run':16} {'60 entities (triples)':>17} {'all triples':>20} {'loop, extrapolated':>19} "
        f"{'ratio':>5}"
    )
    for chosen in sys.argv[1:] or [f"umls-{model}" for model in SIX]:
        compare(chosen)
    print(f"peak memory of the process: {peak_mebibytes():.0f} MiB")
