"""Everything that the pages of a run open with, computed ahead."""

from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.preparation import prepare
from kgdash.studies.overview.overview import overview
from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import MAPPED, reliability_map


def prepare_pages(run: Run, progress: Progress = silent, gives_way: bool = False) -> None:
    """Count as `kgdash.runs.preparation.prepare` does, then make the tables that pages open with.

    These are the overview, the averages of the reliability map, and its regions; all are kept.

    :param progress: may raise to stop: what was counted is kept
    :param gives_way: let all other counting in this process come first
    :raises KgdashError: if a score is NaN
    """
    counting, averaging, scanning = phases(progress, [0.9, 0.07, 0.03])
    prepare(run, counting, gives_way)
    map_ = reliability_map(run)
    overview(map_)
    for number, what in enumerate(MAPPED, start=1):
        averaging(number - 1, len(MAPPED))
        map_.by(what)
    scan_regions(map_, RegionScan(), scanning)
    progress(1.0, 1.0)
