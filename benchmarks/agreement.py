"""Where ranks differ from PyKEEN's, and which of the two is nearer to exact arithmetic.

    python benchmarks/agreement.py [--sample N] [RUN ...]      (default: the six bundled models)

Three times the ranks of N random test triples, both sides, filtered: ours, PyKEEN's evaluator, and
PyKEEN's evaluator on the same model in float64.
"""

import argparse
import copy

import measure
import numpy as np
import torch
from pykeen.evaluation import RankBasedEvaluator

import kgdash
from kgdash.ranking.ranks import rank_triples
from kgdash.runs import Run


def pykeen_ranks(run: Run, model: torch.nn.Module, triples: np.ndarray) -> np.ndarray:
    """Return optimistic and pessimistic ranks, ``(2, 2n)``, heads first."""
    evaluator = RankBasedEvaluator(clear_on_finalize=False)
    evaluator.evaluate(
        model=model,
        mapped_triples=torch.from_numpy(triples),
        additional_filter_triples=[torch.from_numpy(x) for x in run.graph.splits.values()],
        batch_size=32,
        use_tqdm=False,
    )
    return np.array(
        [
            np.concatenate([np.concatenate(evaluator.ranks[s, kind]) for s in ("head", "tail")])
            for kind in ("optimistic", "pessimistic")
        ]
    ).astype(np.int64)


def compare(name: str, sample: int) -> None:
    """Print a line per run."""
    run = kgdash.load(name)
    test = run.graph.split("test")
    test = test[np.random.default_rng(0).permutation(len(test))[:sample]]
    ours = rank_triples(run.scorer, test, run.graph.known())
    ours = ours[["optimistic", "pessimistic"]].to_numpy().T
    theirs = pykeen_ranks(run, run.scorer.model, test)
    exact = pykeen_ranks(run, copy.deepcopy(run.scorer.model).double(), test)
    total = exact.shape[1]
    counts = [
        int((a != b).any(axis=0).sum()) for a, b in ((ours, theirs), (ours, exact), (theirs, exact))
    ]
    print(
        f"{name:24} of {total:7,} ranks: {counts[0]:4} differ between kgdash and PyKEEN (by "
        f"{abs(ours - theirs).max()} at most); from float64: kgdash {counts[1]:4}, "
        f"PyKEEN {counts[2]:4}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("runs", nargs="*", default=measure.SIX)
    arguments = parser.parse_args()
    print(measure.machine())
    for chosen in arguments.runs:
        compare(chosen, arguments.sample)
