"""The runs that rank about as well as one, found without loading any.

Defined in numbers.md#26-the-trust-card.
"""

from collections.abc import Mapping
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.folder_memory import FolderMemory
from kgdash.formats.run_directory import MANIFEST, WEIGHTS, read_manifest
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.description import recorded_mrr
from kgdash.studies.inspection.other_runs import folders_on_same_graph

#: runs whose MRR differs from the run's by at most this part of it are about as good
MARGIN = 0.05

#: runs that are asked besides the run
_MOST = 7

#: characters of a checksum
_SHA256 = 64


def competing_names(run: Run, progress: Progress = silent) -> list[str]:
    """Name the runs of a run's graph whose MRR, recorded when they were trained, is about its own.

    Of copies of one, by the checksum of their weights, the first is named.

    :param progress: called for each run that is looked at
    :return: what `kgdash.runs.loading.load` takes, at most seven; none where no MRR was recorded
    """
    own = recorded_mrr(run.training)
    if own is None:
        return []
    found: dict[str, str] = {}
    for name, folder in folders_on_same_graph(run, progress):
        mrr, weights = _records.get(folder)
        if mrr is not None and abs(mrr - own) <= MARGIN * own:
            found.setdefault(weights, name)
        if len(found) == _MOST:
            break
    return list(found.values())


def distinct(run: Run, others: Mapping[str, Run]) -> dict[str, Run]:
    """Return the runs of a run's graph, without its copies and with each of other copies once.

    :param others: by name; another run may have been put under one of `competing_names`
    """
    names: dict[str, str] = {}
    for name, other in others.items():
        if other.graph.digest == run.graph.digest:
            names.setdefault(other.digest, name)
    names.pop(run.digest, None)
    return {name: others[name] for name in names.values()}


def _read_record(folder: Path) -> tuple[float | None, str]:
    """Return MRR and checksum of the weights, as the manifest records them."""
    try:
        manifest = read_manifest(folder)
    except KgdashError:  # it was removed since, or is damaged
        return None, ""
    return recorded_mrr(manifest["training"]), str(manifest["sha256"].get(WEIGHTS))[:_SHA256]


_records = FolderMemory((MANIFEST,), _read_record)
