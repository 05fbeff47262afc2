"""Filtered ranks of the test set against PyKEEN's evaluator, in one process.

    python benchmarks/ranks.py [--sample N] [RUN ...]      (default: the six bundled models)

PyKEEN is timed at the batch size that is best for it on a small part of the test set. With
``--sample`` it is given N random test triples, and its time is extrapolated to all of them: it
scores each triple on its own, so that its time grows with their number.
"""

import argparse

import measure
import numpy as np
import torch
from pykeen.evaluation import RankBasedEvaluator

import kgdash
from kgdash.ranking.ranks import rank_triples
from kgdash.runs import Run

BATCH_SIZES = (1, 16, 64, 256, 1024)


def evaluate(run: Run, triples: np.ndarray, size: int) -> float:
    """Rank with PyKEEN and return its mean reciprocal rank (both sides, realistic)."""
    known = [torch.from_numpy(run.graph.splits[s]) for s in ("train", "valid", "test")]
    result = RankBasedEvaluator().evaluate(
        run.scorer.model,
        torch.from_numpy(triples),
        additional_filter_triples=known,
        batch_size=size,
        use_tqdm=False,
    )
    return float(result.get_metric("inverse_harmonic_mean_rank"))


def compare(name: str, sample: int | None) -> None:
    """Print one line: our time, PyKEEN's at its best batch size, the ratio."""
    run = kgdash.load(name)
    test, known = run.graph.split("test"), run.graph.known()
    ours = measure.median_seconds(lambda: rank_triples(run.scorer, test, known))
    shuffled = test[np.random.default_rng(0).permutation(len(test))]
    few = shuffled[: max(64, len(test) // 100)]
    best = min(BATCH_SIZES, key=lambda size: measure.seconds(lambda: evaluate(run, few, size)))
    part = shuffled[: sample or len(test)]
    theirs = measure.median_seconds(lambda: evaluate(run, part, best), 3) * len(test) / len(part)
    ranks = rank_triples(run.scorer, few, known)["realistic"]
    gap = abs(float((1 / ranks).mean()) - evaluate(run, few, best))
    print(
        f"{name:24} {ours:9.3f} s {theirs:9.2f} s (batch {best:4}, {len(part):6,} triples) "
        f"{theirs / ours:7.1f}x   {gap:.0e}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int)
    parser.add_argument("runs", nargs="*", default=measure.SIX)
    arguments = parser.parse_args()
    print(measure.machine())
    print(f"{'run':24} {'kgdash':>11} {'PyKEEN':>11} {'':29} {'ratio':>8}   MRRs differ by")
    for chosen in arguments.runs:
        compare(chosen, arguments.sample)
    print(f"peak memory of the process: {measure.peak_mebibytes():.0f} MiB")
