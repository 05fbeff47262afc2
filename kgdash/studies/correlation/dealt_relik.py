"""ReliK dealt anew among entities: what a study finds where ReliK tells nothing.

Triples of one entity have like ReliK and subgraphs share triples, so that tests which take them as
independent find too much. Defined in numbers.md#6-correlation-study.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from kgdash.graph.subgraph import Subgraph, triples_inside
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation

#: deals; fewer of many triples, but so many that a p-value of 17 tasks can come through Holm's
DEALS, FEWEST_DEALS = 999, 399

#: values dealt in all beyond which there are fewer deals, and values in a block
_MOST, _BLOCK = 40_000_000, 2_000_000


class DealtRelik:
    """ReliK of triples, every entity with the ranks of another, in blocks of deals.

    An entity gets those of another one of its role (head, tail, or both) in these triples: each of
    its triples takes one of the other's, drawn with replacement.

    :param relik: ``head``, ``tail`` (ids), ``head_rank``, ``tail_rank`` (≥ 1: those of ReliK)
    :param seed: of the deals, ≥ 0
    """

    def __init__(self, relik: pd.DataFrame, seed: int = 0) -> None:
        self.seed = seed
        self.deals = max(FEWEST_DEALS, min(DEALS, _MOST // max(len(relik), 1)))
        ends = [relik["head"].to_numpy(), relik["tail"].to_numpy()]
        self._step = max(1, _BLOCK // max(len(relik), 1))
        self._entities = 1 + max((int(end.max()) for end in ends if len(end)), default=-1)
        ranks = [relik[f"{side}_rank"].to_numpy() for side in ("head", "tail")]
        self._parts = [
            _Part(end, 0.5 / rank, self._entities) for end, rank in zip(ends, ranks, strict=True)
        ]

    def __len__(self) -> int:
        """Return the number of blocks."""
        return -(-self.deals // self._step)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield blocks of deals: float64, ``(block, n)``; the same ones each time."""
        rng = np.random.default_rng(self.seed)
        heads, tails = (part.counts > 0 for part in self._parts)
        roles = [np.flatnonzero(role) for role in (heads & tails, heads & ~tails, tails & ~heads)]
        for start in range(0, self.deals, self._step):
            size = min(self._step, self.deals - start)
            block = np.empty((size, len(self._parts[0].ends)))
            for row in block:
                given = np.empty(self._entities, dtype=np.int64)
                for role in roles:
                    given[role] = rng.permutation(role)
                row[:] = sum(part.drawn(given, rng) for part in self._parts)
            yield block


class _Part:
    """The half of ReliK that comes of one end's rank, by entity."""

    def __init__(self, ends: np.ndarray, values: np.ndarray, entities: int) -> None:
        self.ends = ends
        self.counts = np.bincount(ends, minlength=entities)
        self._starts = np.cumsum(self.counts) - self.counts
        self._sorted = values[np.argsort(ends, kind="stable")]

    def drawn(self, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a value for each triple among those of the entity that its own was given."""
        source = given[self.ends]
        places = (rng.random(len(source)) * self.counts[source]).astype(np.int64)
        return np.asarray(self._sorted[self._starts[source] + places])


def dealt_means(
    run: Run,
    subgraphs: Sequence[Subgraph],
    evaluation: SubgraphEvaluation = SubgraphEvaluation(),
    seed: int = 0,
    progress: Progress = silent,
) -> np.ndarray:
    """Return the mean ReliK of each subgraph in each deal.

    :param subgraphs: as of `score_subgraphs`, which asks for the same ReliK
    :param seed: of the deals
    :return: float64 ``(deals, subgraphs)``; NaN where a subgraph has no known triple
    :raises KgdashError: on NaN scores
    """
    triples = run.graph.all_triples
    inside = triples_inside(subgraphs, triples)
    rows = np.flatnonzero(np.asarray(inside.sum(axis=0)).ravel())
    if not len(rows):
        return np.full((FEWEST_DEALS, len(subgraphs)), np.nan)
    inside = inside[:, rows]
    dealt = DealtRelik(run.relik(triples=triples[rows], method=evaluation.relik_method), seed)
    counts, means = np.asarray(inside.sum(axis=1)).ravel(), list[np.ndarray]()
    for block in dealt:
        with np.errstate(invalid="ignore"):
            means.append((inside @ block.T).T / counts)
        progress(len(means), len(dealt))
    return np.concatenate(means)
