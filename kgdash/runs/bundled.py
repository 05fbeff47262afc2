"""The demo runs that come with kgdash."""

from pathlib import Path

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
