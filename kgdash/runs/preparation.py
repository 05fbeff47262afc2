"""Counting ahead what every page of a run asks for: ReliK of all known triples, ranks of test."""

import numpy as np

from kgdash.graph import default_filter
from kgdash.graph.known_triples import SIDES
from kgdash.progress import Progress, phases, silent
from kgdash.runs.cluster_parts import fill_ranks, fill_relik
from kgdash.runs.run import Run
from kgdash.scoring import ENTITY_SIDES
from kgdash.statistics.sampled_mean import FIRST

#: what the ranks take of the time
_RANKS = 0.03

#: hours of a core beyond which nothing is counted unasked
UNASKED = 4.0

#: hours of a core beyond which not even a page's first sample of ReliK is counted unasked
WAITED = 0.05

#: multiply-adds that a core does in a second at best (benchmarks/README.md)
_RATE = 7.5e10


def prepare(run: Run, progress: Progress = silent, gives_way: bool = False) -> None:
    """Count what is still missing of ReliK on the whole graph and of the test triples' ranks.

    What is counted is kept at once: after a stop, or a process that died, it goes on there.

    :param progress: of the whole, what was there included
    :param gives_way: let all other counting in this process come first
    :raises KgdashError: if a score is NaN
    """
    before = prepared_share(run)
    first, second = phases(
        lambda done, of: progress(before + (1 - before) * done / of, 1.0), [_RANKS, 1 - _RANKS]
    )
    tables, test = run.exact_tables, run.graph.splits["test"]
    if len(test):
        filter, rows = default_filter("test"), run.graph.positions(test)
        if run.helpers is not None:
            fill_ranks(run.helpers, tables.ranks(filter), filter, rows, list(SIDES), first)
        tables.ranks(filter).ranks(rows, list(SIDES), first, gives_way)
    everything = np.arange(len(run.graph.known()))
    if run.helpers is not None:
        fill_relik(run.helpers, tables.relik, everything, second)
    anchors = tables.relik.missing(everything)
    for _ in tables.relik.count(anchors, second, gives_way):
        pass
    progress(1.0, 1.0)


def least_hours(run: Run, anchors: int | None = None) -> float:
    """Reckon the hours of a core that exact ReliK takes at least, from nothing.

    |R|·|E| scores of K multiply-adds for each anchor (docs/engine.md), for a model without a form
    of 64.

    :param anchors: heads and tails; without, all entities once, for ReliK of all known triples
    """
    graph, form = run.graph, run.scorer.form
    scores = float(graph.num_entities) * graph.num_relations
    scores *= graph.num_entities if anchors is None else anchors
    return scores * (form.dimension if form is not None else 64) / _RATE / 3600


def is_counted_unasked(run: Run) -> bool:
    """Tell whether exact ReliK of all known triples is there, or takes so little that no one asks.

    Where it is not, pages and commands draw samples until somebody asks for more.
    """
    return least_hours(run) <= UNASKED or prepared_share(run) == 1


def relik_method(run: Run) -> str:
    """Return the method of `Run.relik` for a part of the graph where nobody chose one."""
    return "exact" if is_counted_unasked(run) else "sampled"


def first_sample_hours(run: Run) -> float:
    """Reckon the hours of a core that the least sample of ReliK takes at least."""
    return least_hours(run, 2 * FIRST)


def is_sampled_unasked(run: Run) -> bool:
    """Tell whether ReliK of a sample takes so little that a page counts it unasked."""
    return first_sample_hours(run) <= WAITED


def prepared_share(run: Run) -> float:
    """Return which part of the ReliK counts of all known triples there is, in [0, 1]."""
    table = run.exact_tables.relik.table
    return float(np.mean([table.filled(f"{side}_greater") for side in ENTITY_SIDES]))
