"""Search the bundled example study anew: ``python scripts/make_demo_study.py [OUT.db]``.

TransE on UMLS, 40 trials of at most 60 epochs; a study that exists is gone on with.
"""

import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kgdash.graph.datasets import load_dataset  # noqa: E402
from kgdash.hpo.selection import Budget, search  # noqa: E402
from kgdash.hpo.space import SearchSpace  # noqa: E402
from kgdash.hpo.trial import SearchPlan  # noqa: E402
from kgdash.progress import terminal  # noqa: E402
from kgdash.runs.bundled import DEMO_STUDY  # noqa: E402

PLAN = SearchPlan(
    SearchSpace(
        models=("TransE",),
        losses=("NSSALoss",),
        values={
            "model.embedding_dim": {"low": 16, "high": 64, "step": 16},
            "optimizer.lr": {"low": 0.001, "high": 0.2, "log": True},
            "negative_sampler.num_negs_per_pos": {"low": 1, "high": 32, "log": True},
            "training.batch_size": [128, 256, 512],
            "training.num_epochs": {"low": 20, "high": 60, "step": 10},
        },
    ),
    check_every=10,
    prune=True,
)


def main() -> None:
    """Run the trials that are missing."""
    # One thread sums in one order, so that the values come out the same on every machine.
    torch.set_num_threads(1)
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO_STUDY
    study = search(load_dataset("umls"), PLAN, out, Budget(trials=40), progress=terminal(out.name))
    print(study.trials.to_string(index=False))


if __name__ == "__main__":
    main()
