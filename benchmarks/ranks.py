"""Filtered ranks of the test set against PyKEEN's evaluator, in one process.

python benchmarks/ranks.py [RUN ...]      (default: the six bundled models)
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

import torch  # noqa: E402
from measure import machine, median_seconds, peak_mebibytes  # noqa: E402
from pykeen.evaluation import RankBasedEvaluator  # noqa: E402

import kgdash  # noqa: E402
from kgdash.ranking import rank_triples  # noqa: E402

SIX = ("transe", "distmult", "rotate", "pairre", "complex", "conve")
BATCH_SIZES = (32, 256, 1024)


def compare(name: str) -> None:
    """Print one line: our time, PyKEEN's at its best batch size, the ratio."""
    run = kgdash.load(name)
    test = run.graph.split("test")
    known = run.graph.known()
    ours = median_seconds(lambda: rank_triples(run.scorer, test, known), 5)
    triples = {s: torch.from_numpy(run.graph.splits[s]) for s in ("train", "valid", "test")}

    def evaluate(size: int) -> None:
        RankBasedEvaluator().evaluate(
            run.scorer.model,
            triples["test"],
            additional_filter_triples=[triples["train"], triples["valid"]],
            batch_size=size,
            use_tqdm=False,
        )

    theirs = min(median_seconds(lambda s=size: evaluate(s), 3) for size in BATCH_SIZES)
    print(f"{name:16} {ours:8.3f} s {theirs:8.3f} s {theirs / ours:7.1f}x")


if __name__ == "__main__":
    print(machine())
    print(f"{'run':16} {'kgdash':>10} {'PyKEEN':>10} {'ratio':>8}")
    for chosen in sys.argv[1:] or [f"umls-{model}" for model in SIX]:
        compare(chosen)
    print(f"peak memory of the process: {peak_mebibytes():.0f} MiB")
