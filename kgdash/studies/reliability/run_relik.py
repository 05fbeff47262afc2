"""The ReliK that a run's triples have, for a scale that all its drawings share."""

import numpy as np

from kgdash.progress import Progress, silent
from kgdash.ranking.relik_sampled import relik_or_middle
from kgdash.runs import Run
from kgdash.runs.preparation import is_counted_unasked, prepared_share

#: triples drawn where not all are known yet
_SAMPLE = 300

#: entities times relations up to which all triples take a moment
_SMALL = 10_000


def run_relik_known(run: Run) -> bool:
    """Tell whether the exact ReliK of all known triples is stored, or takes but a moment."""
    graph = run.graph
    few = graph.num_entities * graph.num_relations <= _SMALL or len(graph.known()) <= _SAMPLE
    return few or prepared_share(run) == 1


def run_relik(run: Run, progress: Progress = silent) -> tuple[np.ndarray, str]:
    """Return the ReliK of the run's known triples, and of which: a text.

    Of all of them where `run_relik_known`, as the reliability map leaves it; else of 300 drawn at
    random (the same each time), whose percentiles 1, 50 and 99 estimate those of all. Where nothing
    is counted unasked (`kgdash.runs.preparation.is_counted_unasked`), the geometric middles of
    their intervals by 1,000 negatives a side.

    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on NaN scores
    """
    known, method = run.graph.known(), "exact"
    if run_relik_known(run):
        triples, source = run.graph.all_triples, f"all {len(known):,} known triples"
    else:
        rows = np.random.default_rng(0).choice(len(known), _SAMPLE, replace=False)
        triples, source = known.at(np.sort(rows)), f"{_SAMPLE:,} known triples drawn at random"
        if not is_counted_unasked(run):
            method, source = "sampled", f"{source}, their ReliK sampled"
    return relik_or_middle(run.relik(triples=triples, method=method, progress=progress)), source
