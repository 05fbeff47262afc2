"""Everything that the pages of a run open with, computed ahead."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kgdash.errors import KgdashError
from kgdash.health.of_run import score_health
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.preparation import prepare
from kgdash.studies.classification.classification import classify
from kgdash.studies.overview.overview import overview
from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import MAPPED, reliability_map


def prepare_pages(run: Run, progress: Progress = silent, gives_way: bool = False) -> None:
    """Count as `kgdash.runs.preparation.prepare` does, then make the tables that pages open with.

    These are the raw ranks of test, the overview, the averages of the reliability map and its
    regions, the scores' health and the classification of test triples; all are kept.

    :param progress: may raise to stop: what was counted is kept
    :param gives_way: let all other counting in this process come first
    :raises KgdashError: if a score is NaN
    """
    counting, *rest = phases(progress, [0.88, 0.02, 0.02, 0.02, 0.03, 0.03])
    prepare(run, counting, gives_way)
    map_ = reliability_map(run)

    def averages(report: Progress) -> None:
        overview(map_)
        for number, what in enumerate(MAPPED):
            report(number, len(MAPPED))
            map_.by(what)

    works: list[Callable[[Progress], Any]] = [
        lambda report: run.ranks("test", filter="none", progress=report),
        averages,
        lambda report: scan_regions(map_, RegionScan(), report),
        lambda report: score_health(run, progress=report),
        lambda report: classify(run, progress=report).tables(),
    ]
    for work, report in zip(works, rest, strict=True):
        # What a page refuses, such as a graph without test triples, it says itself.
        with suppress(KgdashError):
            work(report)
    progress(1.0, 1.0)
