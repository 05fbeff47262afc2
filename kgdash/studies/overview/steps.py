"""The overview while it is made: exact, or of samples where exact values would take too long.

Defined in numbers.md#31-figures-of-samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from kgdash.graph.held_out import repeated_triples
from kgdash.progress import Progress, phases, silent
from kgdash.ranking.metrics import triple_reciprocal_ranks
from kgdash.ranking.ratio_metrics import mean_estimate
from kgdash.runs import Run
from kgdash.runs.preparation import (
    first_sample_hours,
    is_counted_unasked,
    is_sampled_unasked,
    least_hours,
)
from kgdash.runs.sampled_means import WIDTH
from kgdash.statistics.estimate import Estimate
from kgdash.statistics.sampled_mean import SampledMean
from kgdash.studies.overview.overview import (
    Lead,
    Overview,
    chance_of_hits,
    hits_at,
    leads_of_ranks,
    overview,
)
from kgdash.studies.overview.verdict import performance_verdict, sampled_sentence
from kgdash.studies.reliability.reliability_map import ReliabilityMap, reliability_steps

_NOTHING = Estimate(np.nan, np.nan, np.nan, 0)

_NOT_TOLD = "Which part can be trusted most is told when the ReliK of all known triples is counted."


def overview_steps(
    run: Run, width: float | None = None, progress: Progress = silent
) -> Iterator[Overview]:
    """Look at a run: once while ReliK is being counted, and when it is.

    :param width: of the 95% intervals of MRR and mean ReliK, which are then of samples; without,
        all is exact, unless `kgdash.runs.preparation.is_counted_unasked` says that it takes too
        long: then 0.05
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: on NaN scores, or a width out of range
    """
    if width is not None or not is_counted_unasked(run):
        yield from _sampled(run, width, progress)
        return
    first, second = phases(progress, [0.95, 0.05])
    for step, map_ in enumerate(reliability_steps(run, first)):
        if map_.method == "exact" or not step:
            yield overview(map_, second)


def _sampled(run: Run, width: float | None, progress: Progress) -> Iterator[Overview]:
    wide = WIDTH if width is None else width
    first, second = phases(progress, [0.2, 0.8])
    found = _ranked(run, wide, first)
    ranked = found.sampled.get("mrr")
    # Whoever names a width asks for it, however long it takes.
    counted = width is not None or is_sampled_unasked(run)
    if counted:
        yield found
        every = run.graph.all_triples
        mean = run.sampled("relik", triples=every, width=wide, progress=second).mean
        values = found.values | {"relik": _estimate(mean)}
        found = replace(found, values=values, sampled=found.sampled | {"relik": mean})
    hours = least_hours(run), first_sample_hours(run)
    how = sampled_sentence(hours, wide, ranked, found.sampled.get("relik"))
    yield replace(found, map=replace(found.map, method="sampled"), how=how)


def _ranked(run: Run, width: float, progress: Progress) -> Overview:
    """Look at a sample of the test triples alone."""
    values = dict.fromkeys(("mrr", "hits_at_1", "hits_at_10", "relik"), _NOTHING)
    sampled: dict[str, SampledMean] = {}
    leads: list[Lead] = []
    test, reciprocal, by_chance = run.graph.splits["test"], np.zeros(0), 0.0
    if len(test):
        figure = run.sampled("mrr", width=width, progress=progress)
        test, ranks = figure.triples, run.ranks(triples=figure.triples)
        reciprocal = triple_reciprocal_ranks(ranks)
        of_triples = {"mrr": reciprocal, "hits_at_1": hits_at(ranks, 1)}
        of_triples["hits_at_10"] = hits_at(ranks, 10)
        sampled = {name: figure.of(each) for name, each in of_triples.items()}
        values |= {name: _estimate(mean, of_triples[name]) for name, mean in sampled.items()}
        by_chance = chance_of_hits(ranks, 10)
        leads = leads_of_ranks(run, ranks)
    map_ = ReliabilityMap(run, "growing", pd.DataFrame(), test, reciprocal)
    repeated = repeated_triples(run.graph).get(("test", "train"), 0)
    ranked = performance_verdict(values["mrr"], values["hits_at_10"], repeated, by_chance)
    return Overview(map_, values, pd.DataFrame(), (ranked, _NOT_TOLD), tuple(leads), sampled)


def _estimate(mean: SampledMean, values: np.ndarray | None = None) -> Estimate:
    """Return a mean as the exact overview has it.

    :param values: where all are drawn, these: their interval is the bootstrap's over triples
    """
    if mean.exact and values is not None:
        return mean_estimate(values)
    ends = (np.nan, np.nan) if mean.exact else (mean.low, mean.high)
    return Estimate(mean.value, *ends, mean.n)
