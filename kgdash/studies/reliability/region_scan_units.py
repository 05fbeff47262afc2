"""What a scan for reliable regions sums up: the ReliK of triples, or of entities.

Defined in numbers.md#18-reliability-map.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.engine.region_kernels import Incidence
from kgdash.graph import KnowledgeGraph

#: groups of entities that permute among themselves, by degree
_DEGREES = 10


@dataclass(frozen=True)
class Units:
    """What a scan sums up: values with two ends each (an entity's own value has one).

    ``values``: float64 ``(n,)``, of mean 0 in each stratum and variance 1 over all; ``strata``:
    int64 ``(n,)``; ``ends``: int64 ``(n, 2)``, ids of entities.
    """

    values: np.ndarray
    strata: np.ndarray
    ends: np.ndarray

    def incidence(self, entities: int) -> Incidence:
        """Return the units of each of so many entities."""
        first, second = self.ends.T
        numbers, two = np.arange(len(first)), first != second
        here = np.concatenate([first, second[two]])
        order = np.argsort(here, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=entities))])
        others = np.concatenate([second, first[two]])[order]
        units = np.concatenate([numbers, numbers[two]])[order]
        return Incidence(starts.astype(np.int64), others, units)


def triple_units(graph: KnowledgeGraph, relik: pd.DataFrame) -> Units:
    """Take the log ReliK of triples, less the mean of their relation, over its deviation.

    :param relik: of `Run.relik`, rows as ``graph.all_triples``
    """
    relations = relik["relation"].to_numpy()
    values = _standardised(np.log10(relik["relik"].to_numpy()), relations)
    return Units(values, relations, relik[["head", "tail"]].to_numpy())


def entity_units(graph: KnowledgeGraph, relik: pd.DataFrame) -> Units:
    """Take the own reliability of entities, less the mean of like degrees, over its deviation.

    An entity's own reliability is the mean log of 1/rank_H over the triples that it is the head of
    and of 1/rank_T over those that it is the tail of (numbers.md#4-relik): ranks among its own
    negatives. Two neighbours share triples, but no rank. Strata are tenths of the
    entities by degree.

    :param relik: of `Run.relik`, rows as ``graph.all_triples``
    """
    ends = np.concatenate([relik["head"], relik["tail"]])
    logs = -np.log10(np.concatenate([relik["head_rank"], relik["tail_rank"]]).astype(np.float64))
    counts = np.bincount(ends, minlength=graph.num_entities)
    held = np.flatnonzero(counts)
    means = np.bincount(ends, logs, minlength=graph.num_entities)[held] / counts[held]
    place = np.empty(len(held), dtype=np.int64)
    place[np.lexsort((held, counts[held]))] = np.arange(len(held))
    strata = place * _DEGREES // len(held)
    return Units(_standardised(means, strata), strata, np.column_stack([held, held]))


def _standardised(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Subtract the mean of each stratum, divide by its deviation, and give all variance 1."""
    counts = np.maximum(np.bincount(strata), 1)
    values = values - (np.bincount(strata, values) / counts)[strata]
    deviations = np.sqrt(np.bincount(strata, values**2) / counts)[strata]
    scaled = np.divide(values, deviations, out=np.zeros_like(values), where=deviations > 1e-9)
    return scaled / max(float(np.sqrt((scaled**2).mean())), 1e-9)
