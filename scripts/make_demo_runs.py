"""Train the bundled demo runs anew: ``python scripts/make_demo_runs.py [OUT]``.

Every run is UMLS, embedding dimension 50, sLCWA. What is not named here is PyKEEN's default. The
configurations were chosen on validation MRR alone.
"""

import json
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kgdash.graph.datasets import load_dataset  # noqa: E402
from kgdash.progress import terminal  # noqa: E402
from kgdash.runs.bundled import DEMO  # noqa: E402
from kgdash.runs.training import TrainingConfig, train  # noqa: E402

CONFIGS = json.loads((Path(__file__).parent / "demo_configs.json").read_text(encoding="utf-8"))


def main() -> None:
    """Train what is missing under OUT (default: the package's demo folder)."""
    # One thread sums in one order, so that the weights come out the same on every machine.
    torch.set_num_threads(1)
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO
    graph = load_dataset("umls")
    for name, config in CONFIGS.items():
        if (out / name).exists():
            print(f"{name}: kept, it exists")
            continue
        run = train(graph, TrainingConfig(**config), out / name, terminal(name))
        print(f"{name}: {run.training['evaluation']}, {run.training['seconds']} s")


if __name__ == "__main__":
    main()
