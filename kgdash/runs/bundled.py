"""The demo runs that come with kgdash."""

import os
from pathlib import Path

DEMO = Path(__file__).parents[1] / "demo"

#: the example of a search: TransE on UMLS
DEMO_STUDY = Path(__file__).parents[1] / "demo_studies" / "umls-transe.db"

#: what the app's choice of a run offers besides bundled names; part of addresses
FOLDER_CHOICE = "A folder on this machine …"


def default_run() -> str:
    """Return the name of the run that the app opens on: ``$KGDASH_DEFAULT_RUN`` if set."""
    return os.environ.get("KGDASH_DEFAULT_RUN") or "fb15k-237-complex"


def bundled_names() -> list[str]:
    """Return the names of the bundled runs, sorted."""
    return sorted(p.parent.name for p in DEMO.glob("*/run.json"))
