"""The runs that rank about as well as one, found without loading any.

Defined in numbers.md#26-the-trust-card.
"""

from itertools import islice
from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.folder_memory import FolderMemory
from kgdash.formats.run_directory import MANIFEST, read_manifest
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.description import recorded_mrr
from kgdash.studies.inspection.other_runs import folders_on_same_graph

#: runs whose MRR differs from the run's by at most this part of it are about as good
MARGIN = 0.05

#: runs that are asked besides the run
_MOST = 7


def competing_names(run: Run, progress: Progress = silent) -> list[str]:
    """Name the runs of a run's graph whose MRR, recorded when they were trained, is about its own.

    :param progress: called for each run that is looked at
    :return: what `kgdash.runs.loading.load` takes, at most seven; none where no MRR was recorded
    """
    own = recorded_mrr(run.training)
    if own is None:
        return []
    near = (
        name
        for name, folder in folders_on_same_graph(run, progress)
        if (mrr := _mrrs.get(folder)) is not None and abs(mrr - own) <= MARGIN * own
    )
    return list(islice(near, _MOST))


def _read_mrr(folder: Path) -> float | None:
    try:
        return recorded_mrr(read_manifest(folder)["training"])
    except KgdashError:  # it was removed since, or is damaged
        return None


_mrrs = FolderMemory((MANIFEST,), _read_mrr)
