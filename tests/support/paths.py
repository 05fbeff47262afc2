"""Where things lie that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: a table of instances, as a user would upload it
EXAMPLE = ROOT / "docs" / "examples" / "umls-rule-instances.tsv"

#: benchmark graphs that lie beside the repository in our workshop, not in a checkout elsewhere
SHARED = ROOT.parent / "shared" / "data"
