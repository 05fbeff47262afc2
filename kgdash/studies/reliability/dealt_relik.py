"""ReliK dealt anew among entities and relations: what a study finds where ReliK tells nothing.

Triples of one entity, or of one relation, have like ReliK, and subgraphs share triples, so that
tests which take them as independent find too much. Defined in numbers.md#6-correlation-study.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from kgdash.graph.subgraph import Subgraph
from kgdash.graph.triples_inside import triples_inside
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation

#: deals; fewer of many triples, but so many that a p-value of 17 tasks can come through Holm's
DEALS, FEWEST_DEALS = 999, 399

#: values dealt in all beyond which there are fewer deals, and values in a block
_MOST, _BLOCK = 10_000_000, 2_000_000

#: what is given the ranks of another of its kind
AMONG = ("entities", "relations")


class DealtRelik:
    """ReliK of triples, every entity or relation with the ranks of another, in blocks of deals.

    Each triple takes ranks of the other's triples, drawn with replacement: of a relation both at
    once; of an entity those that it is the head of as a head, and of the tail as a tail. Entities
    are dealt among those of their role in these triples (head, tail, or both).

    :param relik: ``head``, ``relation``, ``tail`` (ids), ``relik``, ``head_rank``, ``tail_rank``
        (≥ 1: those of ReliK)
    :param among: of `AMONG`
    :param seed: of the deals, ≥ 0
    """

    def __init__(self, relik: pd.DataFrame, among: str = "entities", seed: int = 0) -> None:
        self.seed, self.rows = seed, len(relik)
        self.deals = max(FEWEST_DEALS, min(DEALS, _MOST // max(self.rows, 1)))
        self._step = max(1, _BLOCK // max(self.rows, 1))
        terms = {end: 1.0 / relik[f"{end}_rank"].to_numpy() for end in ("head", "tail")}
        # Half of each, but for estimates, which are not their mean.
        scale = relik["relik"].to_numpy() / (terms["head"] + terms["tail"])
        halves = {end: scale * term for end, term in terms.items()}
        if among == "relations":
            halves = {"relation": relik["relik"].to_numpy()}
        ids = {column: relik[column].to_numpy() for column in halves}
        self._ids = 1 + max((int(each.max()) for each in ids.values() if len(each)), default=-1)
        self._parts = [_Part(ids[column], half, self._ids) for column, half in halves.items()]

    def __len__(self) -> int:
        """Return the number of blocks."""
        return -(-self.deals // self._step)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield blocks of deals: float64, ``(block, rows)``; the same ones each time."""
        rng = np.random.default_rng(self.seed)
        played = sum(2**place * (part.counts > 0) for place, part in enumerate(self._parts))
        roles = [np.flatnonzero(played == role) for role in range(1, 2 ** len(self._parts))]
        for start in range(0, self.deals, self._step):
            block = np.empty((min(self._step, self.deals - start), self.rows))
            for row in block:
                given = np.empty(self._ids, dtype=np.int64)
                for role in roles:
                    given[role] = rng.permutation(role)
                row[:] = sum(part.drawn(given, rng) for part in self._parts)
            # Without their last bits, equal ones are equal.
            yield np.round(block, 14)


class _Part:
    """What of ReliK comes with an entity or a relation in one place of triples."""

    def __init__(self, ids: np.ndarray, values: np.ndarray, most: int) -> None:
        self.ids = ids
        self.counts = np.bincount(ids, minlength=most)
        self._starts = np.cumsum(self.counts) - self.counts
        self._sorted = values[np.argsort(ids, kind="stable")]

    def drawn(self, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a value for each triple among those of the one that its own was given."""
        source = given[self.ids]
        places = (rng.random(len(source)) * self.counts[source]).astype(np.int64)
        return np.asarray(self._sorted[self._starts[source] + places])


def dealt_ways(relik: pd.DataFrame, seed: int = 0) -> list[DealtRelik]:
    """Return the ReliK of triples dealt by each way of `AMONG`.

    :param relik: as of `DealtRelik`
    :param seed: of the deals
    """
    return [DealtRelik(relik, among, seed) for among in AMONG]


def dealt_means(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    seed: int = 0,
    progress: Progress = silent,
) -> list[np.ndarray]:
    """Return the mean ReliK of each subgraph in each deal, by each way of `AMONG`.

    :param subgraphs: as of `score_subgraphs`, which asks for the same ReliK
    :param seed: of the deals
    :return: float64 arrays ``(deals, subgraphs)``; NaN where a subgraph has no known triple
    :raises KgdashError: on NaN scores
    """
    triples = run.graph.all_triples
    inside = triples_inside(subgraphs, triples)
    rows = inside.anywhere
    if not rows.any():
        return [np.full((FEWEST_DEALS, len(subgraphs)), np.nan)] * len(AMONG)
    inside = inside.of(rows)
    relik = run.relik(triples=triples[rows], method=evaluation.relik_method)
    found = []
    for dealt, report in zip(dealt_ways(relik, seed), phases(progress, [2.0, 1.0]), strict=True):
        means: list[np.ndarray] = []
        for block in dealt:
            means.append(inside.means(block.T).T)
            report(len(means), len(dealt))
        found.append(np.concatenate(means))
    return found
