"""The demo runs that come with kgdash, and a look into a run that costs nothing."""

import json
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parents[1] / "demo"

#: the example of a search: TransE on UMLS
DEMO_STUDY = Path(__file__).parents[1] / "demo_studies" / "umls-transe.db"

#: the run that the app opens on
DEFAULT_RUN = "umls-transe"

#: what the app's choice of a run offers besides bundled names; part of addresses
FOLDER_CHOICE = "A folder on this machine …"


def bundled_names() -> list[str]:
    """Return the names of the bundled runs, sorted."""
    return sorted(p.parent.name for p in DEMO.glob("*/run.json"))


def bundled_runs() -> list[dict[str, Any]]:
    """Describe the bundled runs without loading a model.

    :return: for each: ``name``, ``model``, ``dataset``, ``dimension``, ``seed``, ``mrr`` and
        ``hits_at_10`` (realistic, both sides, filtered, test), as recorded when it was trained
    """
    rows = []
    for name in bundled_names():
        manifest = json.loads((DEMO / name / "run.json").read_text(encoding="utf-8"))
        training = manifest["training"]
        evaluation = training.get("evaluation", {})
        rows.append(
            {
                "name": name,
                "model": manifest["model"]["name"],
                "dataset": training.get("dataset"),
                "dimension": manifest["model"]["kwargs"].get("embedding_dim"),
                "seed": training.get("random_seed"),
                "mrr": evaluation.get("inverse_harmonic_mean_rank"),
                "hits_at_10": evaluation.get("hits_at_10"),
            }
        )
    return rows
