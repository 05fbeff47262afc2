"""The ReliK that a run's triples have, for a scale that all its drawings share."""

import numpy as np

from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.runs.preparation import prepared_share

#: triples drawn where not all are known yet
_SAMPLE = 300

#: entities times relations up to which all triples take a moment
_SMALL = 10_000


def run_relik_known(run: Run) -> bool:
    """Tell whether the exact ReliK of all known triples is stored, or takes but a moment."""
    triples, graph = run.graph.all_triples, run.graph
    few = graph.num_entities * graph.num_relations <= _SMALL or len(triples) <= _SAMPLE
    return few or prepared_share(run) == 1


def run_relik(run: Run, progress: Progress = silent) -> tuple[np.ndarray, str]:
    """Return the exact ReliK of the run's known triples, and of which: a text.

    Of all of them where `run_relik_known`, as the reliability map leaves it; else of 300 drawn at
    random (the same each time), whose percentiles 1, 50 and 99 estimate those of all.

    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on NaN scores
    """
    triples = run.graph.all_triples
    source = f"all {len(triples):,} known triples"
    if not run_relik_known(run):
        rows = np.random.default_rng(0).choice(len(triples), _SAMPLE, replace=False)
        triples, source = triples[np.sort(rows)], f"{_SAMPLE:,} known triples drawn at random"
    return run.relik(triples=triples, progress=progress)["relik"].to_numpy(), source
