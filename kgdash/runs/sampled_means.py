"""The mean ReliK or MRR of known triples from as many of them as an interval's width asks for.

Defined in numbers.md#31-figures-of-samples. Triples are drawn at random within relations; each that
is drawn is counted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kgdash.errors import KgdashError, check_name
from kgdash.progress import Progress, phases
from kgdash.ranking.metrics import triple_reciprocal_ranks
from kgdash.ranking.relik import SideCounts
from kgdash.scoring import ENTITY_SIDES
from kgdash.statistics.sampled_mean import (
    FIRST,
    SampledMean,
    draw,
    needed,
    sampled_mean,
    strata,
)

if TYPE_CHECKING:
    from kgdash.runs.run import Run

#: whose mean it can be
MEASURES = ("relik", "mrr")

#: width of a 95% interval that is wide enough for a first look
WIDTH = 0.05

_NARROWEST = 1e-9


@dataclass(frozen=True)
class SampledFigure:
    """A mean over triples, and those drawn for it: ``triples``, int64 ``(n, 3)``.

    ``stratum``: int64, ``(n,)``: where each was drawn; ``sizes``: int64: triples of each stratum.
    """

    mean: SampledMean
    triples: np.ndarray
    stratum: np.ndarray
    sizes: np.ndarray

    def of(self, values: np.ndarray) -> SampledMean:
        """Estimate another mean from values of the same triples, float64 in [0, 1]."""
        return sampled_mean(values, self.stratum, self.sizes)


def sampled_figure(
    run: Run, measure: str, triples: np.ndarray, width: float, seed: int, progress: Progress
) -> SampledFigure:
    """Draw triples and count them until the 95% interval of their mean is narrow enough.

    :param measure: of `MEASURES`
    :param triples: known ones, int64, ``(N, 3)``, N ≥ 1
    :param width: of the interval at most, in (0, 1]
    :param seed: of the draw, ≥ 0
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on an unknown measure, a width out of range, triples that are not known, or
        NaN scores
    """
    check_name("measure", measure, MEASURES, "samples")
    if not _NARROWEST <= width <= 1:
        raise KgdashError(
            f"expected a width of the interval from {_NARROWEST:g} to 1; found {width:g}"
        )
    at = run.graph.positions(triples)
    if len(at) == 0 or (at < 0).any():
        raise KgdashError(
            f"samples are drawn of known triples; found {int((at < 0).sum()):,} of {len(at):,} "
            "that are not"
        )
    value = _reliks if measure == "relik" else _reciprocal_ranks
    of, order = triples[:, 1], np.random.default_rng(seed).permutation(len(triples))
    n = min(len(triples), FIRST)
    while True:
        numbers = strata(of, n)
        rows = draw(numbers, n, order)
        now, progress = phases(progress, [1.0, 1.0])
        values = value(run, at, rows, now)
        stratum, sizes = numbers[rows], np.bincount(numbers)
        mean = sampled_mean(values, stratum, sizes)
        if mean.high - mean.low <= width or mean.exact:
            progress(1.0, 1.0)
            return SampledFigure(mean, triples[rows], stratum, sizes)
        more = needed(mean.spread, len(triples), width, farthest=mean.farthest)
        n = min(len(triples), max(more, int(np.ceil(1.2 * n))))


def _reliks(run: Run, at: np.ndarray, rows: np.ndarray, progress: Progress) -> np.ndarray:
    """Return of each triple drawn ½ (its head's mean of 1/rank_H + its tail's mean of 1/rank_T).

    Whoever counts around a head has counted all triples there. The mean over all triples is that of
    ReliK, and these values vary less.

    :param at: the positions of all triples that are drawn from, among the known ones; some may
        stand there several times
    :param rows: those drawn
    """
    graph = run.graph
    triples = graph.known().at(at[rows])
    run.exact_tables.relik_counts(triples, progress)
    table, times = run.exact_tables.relik, np.bincount(at, minlength=len(graph.known()))
    found = np.zeros(len(rows))
    for number, side in enumerate(ENTITY_SIDES):
        column = 2 * number
        anchors, anchor = np.unique(triples[:, column], return_inverse=True)
        around = table.rows_around(number, anchors)
        around = around[times[around] > 0]
        greater = table.table.values(around)[f"{side}_greater"]
        reciprocal = 1 / SideCounts(greater, greater, greater).rank()
        place = np.searchsorted(anchors, graph.known().at(around)[:, column])
        means = np.bincount(place, times[around] * reciprocal) / np.bincount(place, times[around])
        found += 0.5 * means[anchor]
    return found


def _reciprocal_ranks(run: Run, at: np.ndarray, rows: np.ndarray, progress: Progress) -> np.ndarray:
    """Return of each triple drawn the mean of its two reciprocal ranks, realistic and filtered."""
    triples = run.graph.known().at(at[rows])
    return triple_reciprocal_ranks(run.ranks(triples=triples, progress=progress))
