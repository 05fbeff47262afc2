"""The colour scale of ReliK that all drawings of a run share."""

from kgdash.charts.relik_scale import ReliKScale, relik_scale
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.studies.reliability.reliability_map import ReliabilityMap
from kgdash.studies.reliability.run_relik import run_relik, run_relik_known
from kgdash.ui.runtime.computed import computed


def run_scale(run: Run) -> ReliKScale:
    """Return the run's scale: of all its known triples, or of a sample if that would take long."""
    key = (run.identity, "scale", run_relik_known(run))
    return relik_scale(*computed("Scale of ReliK", key, Call(run_relik, run)))


def map_scale(map_: ReliabilityMap) -> ReliKScale:
    """Return the scale of a map's run: once the map is exact, that of `run_scale`."""
    triples = map_.relik["relik"]
    return relik_scale(triples, f"all {len(triples):,} known triples")
