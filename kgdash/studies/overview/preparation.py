"""Everything that the pages of a run open with, computed ahead."""

from collections.abc import Callable
from contextlib import suppress

from kgdash.errors import KgdashError
from kgdash.health.of_run import score_health
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.runs.preparation import prepare
from kgdash.studies.classification.classification import classify
from kgdash.studies.classification.given_negatives import verified_negatives
from kgdash.studies.correlation.confounders import cached_tests, triple_factors
from kgdash.studies.instances.instances import score_instances
from kgdash.studies.labelling.queue import label_queue
from kgdash.studies.labelling.sources import JUDGED, predictions_to_judge
from kgdash.studies.obl2021.top_ten import predict
from kgdash.studies.overview.overview import overview
from kgdash.studies.probability.answer_sets import prepare_answer_sets
from kgdash.studies.probability.calibration_summary import (
    calibration_by_groups,
    summarize_calibration,
)
from kgdash.studies.queries.sources import sample_queries
from kgdash.studies.reliability.region_scan import RegionScan, scan_regions
from kgdash.studies.reliability.reliability_map import MAPPED, reliability_map
from kgdash.studies.rules.selection import RuleSelection
from kgdash.studies.rules.sources import find_instances
from kgdash.studies.trust.basis import card_basis

#: what all but counting takes of the time
_TABLES = 0.2


def prepare_pages(run: Run, progress: Progress = silent, gives_way: bool = False) -> None:
    """Count as `kgdash.runs.preparation.prepare` does, then make the tables that pages open with.

    These are the raw ranks of test, the overview, the averages of the reliability map and its
    regions, the scores' health, the classification of test triples, the ten best answers, the
    confounders' tests, how far probabilities are right, the answer sets, and the ReliK and ranks of
    sampled queries, of mined rules' instances and of predictions to judge; all are kept.

    :param progress: may raise to stop: what was counted is kept
    :param gives_way: let all other counting in this process come first
    :raises KgdashError: if a score is NaN
    """
    counting, rest = phases(progress, [1 - _TABLES, _TABLES])
    prepare(run, counting, gives_way)
    works: list[Callable[[Run, Progress], None]] = [
        *(_raw_ranks, _averages, _regions, _health, _classes),
        *(_ten_best, _confounders, _queries, _rules, _labels, _probabilities),
        *(prepare_answer_sets, _cards),
    ]
    for work, report in zip(works, phases(rest, [1.0] * len(works)), strict=True):
        # What a page refuses, such as a graph without test triples, it says itself.
        with suppress(KgdashError):
            work(run, report)
    progress(1.0, 1.0)


def _raw_ranks(run: Run, progress: Progress) -> None:
    run.ranks("test", filter="none", progress=progress)


def _averages(run: Run, progress: Progress) -> None:
    map_ = reliability_map(run)
    overview(map_)
    for number, what in enumerate(MAPPED):
        progress(number, len(MAPPED))
        map_.by(what)


def _regions(run: Run, progress: Progress) -> None:
    scan_regions(reliability_map(run), RegionScan(), progress)


def _health(run: Run, progress: Progress) -> None:
    score_health(run, progress=progress)


def _classes(run: Run, progress: Progress) -> None:
    classify(run, progress=progress).tables()


def _ten_best(run: Run, progress: Progress) -> None:
    predict(run, progress=progress)


def _confounders(run: Run, progress: Progress) -> None:
    factors = triple_factors(run)
    for name, report in zip(("factors", "partial"), phases(progress, [1.0, 1.0]), strict=True):
        cached_tests(run, name, factors, progress=report)


def _queries(run: Run, progress: Progress) -> None:
    score_instances(run, sample_queries(run.graph), progress)


def _rules(run: Run, progress: Progress) -> None:
    first, second = phases(progress, [1.0, 1.0])
    negatives = verified_negatives(run)
    found = find_instances(run.graph, RuleSelection(), negatives=negatives, progress=first)
    score_instances(run, found, second)


def _labels(run: Run, progress: Progress) -> None:
    negatives = verified_negatives(run)
    found = predictions_to_judge(run.graph, JUDGED, negatives=negatives)
    label_queue(run, found, progress=progress)


def _probabilities(run: Run, progress: Progress) -> None:
    first, second = phases(progress, [3.0, 1.0])
    summarize_calibration(run, progress=first)
    calibration_by_groups(run, "relik", progress=second)


def _cards(run: Run, progress: Progress) -> None:
    card_basis(run, progress)
