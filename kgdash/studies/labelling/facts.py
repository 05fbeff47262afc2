"""Facts of the graph to judge: the most suspicious, or a fair sample that tells the error rate.

Defined in numbers.md#28-wrong-facts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.errors import check_name
from kgdash.graph import IDS, KnowledgeGraph
from kgdash.studies.labelling.error_rate import ErrorRate, error_rate
from kgdash.studies.labelling.events import Labelling
from kgdash.studies.labelling.queue import LabelQueue, named_triple

#: orders to judge in; labels in the first tell the error rate
FACT_ORDERS = ("random in strata", "most suspicious first")

#: facts listed at most: more than people judge
_MOST = 2_000

#: parts of equal size that the order of suspicion is cut into
_STRATA = 5


def fact_queue(graph: KnowledgeGraph, audit: pd.DataFrame, order: str, seed: int = 0) -> LabelQueue:
    """List facts to judge.

    :param audit: of `kgdash.studies.audit.cross_fitting.cross_fit`: one row per training triple,
        the most suspicious first
    :param order: one of `FACT_ORDERS`
    :param seed: of the random order
    :raises KgdashError: if there is no such order
    """
    check_name("order", order, FACT_ORDERS, "kgdash")
    rows = np.arange(len(audit))
    if order == FACT_ORDERS[0]:
        drawn = [_drawn(audit, stratum, seed) for stratum in _strata(audit)]
        turn = np.concatenate([np.arange(len(each)) for each in drawn])
        rows = np.concatenate(drawn)[np.argsort(turn, kind="stable")]
    listed = audit[IDS].to_numpy()[rows[:_MOST]]
    none = pd.DataFrame(columns=["instance", "group", "grounding", *IDS])
    return LabelQueue(graph, tuple(named_triple(ids, graph) for ids in listed), none, none)


def estimate_error_rate(
    graph: KnowledgeGraph, audit: pd.DataFrame, state: Labelling, seed: int = 0, level: float = 0.95
) -> ErrorRate:
    """Estimate the share of wrong training triples from the labels.

    In each stratum the labels count that come before the first triple of the random order that was
    neither judged nor skipped: these are a fair sample, whatever else was judged and why, but that
    what comes next and was judged because it is suspicious makes it longer.

    :param audit: and ``seed``: as for `fact_queue`
    """
    strata = _strata(audit)
    labelled, wrong = [0] * len(strata), [0] * len(strata)
    triples = audit[IDS].to_numpy()
    for number, stratum in enumerate(strata):
        for row in _drawn(audit, stratum, seed):
            triple = named_triple(triples[row], graph)
            label = state.label_of(triple)
            if label is None and not state.progress([triple])[1]:
                break
            labelled[number] += label is not None
            wrong[number] += label is False
    return error_rate([len(stratum) for stratum in strata], labelled, wrong, level)


def _strata(audit: pd.DataFrame) -> list[np.ndarray]:
    """Cut the rows: quantiles of ReliK, and those without one."""
    judged = int(audit["relik"].notna().sum())
    parts = [*np.array_split(np.arange(judged), _STRATA), np.arange(judged, len(audit))]
    return [part for part in parts if len(part)]


def _drawn(audit: pd.DataFrame, stratum: np.ndarray, seed: int) -> np.ndarray:
    """Put rows into a random order that hangs on the triples and the seed alone."""
    place = np.lexsort(audit[IDS].to_numpy().T[::-1])
    keys = np.empty(len(audit))
    keys[place] = np.random.default_rng(seed).random(len(audit))
    return stratum[np.argsort(keys[stratum], kind="stable")]
