"""The runs that rank about as well as one, found without loading any.

Defined in numbers.md#26-the-trust-card.
"""

from collections.abc import Mapping
from typing import Any

from kgdash.errors import KgdashError
from kgdash.formats.run_directory import read_manifest
from kgdash.runs import Run
from kgdash.runs.library import run_folder
from kgdash.studies.inspection.other_runs import runs_on_same_graph

#: runs whose MRR differs from the run's by at most this part of it are about as good
MARGIN = 0.05

#: runs that are asked besides the run
_MOST = 7


def competing_names(run: Run) -> list[str]:
    """Name the runs of a run's graph whose MRR, recorded when they were trained, is about its own.

    :return: what `kgdash.runs.loading.load` takes, at most seven; none where no MRR was recorded
    """
    own = recorded_mrr(run.training)
    if own is None:
        return []
    found = []
    for name in runs_on_same_graph(run):
        try:
            mrr = recorded_mrr(read_manifest(run_folder(name)).get("training") or {})
        except KgdashError:  # it was removed since, or is damaged
            continue
        if mrr is not None and abs(mrr - own) <= MARGIN * own:
            found.append(name)
    return found[:_MOST]


def recorded_mrr(training: Mapping[str, Any]) -> float | None:
    """Return the MRR on test that kgdash recorded after a training, or None."""
    value = (training.get("evaluation") or {}).get("inverse_harmonic_mean_rank")
    return value if isinstance(value, float) else None
