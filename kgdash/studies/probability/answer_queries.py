"""The queries that triples ask on both sides, and the softmax over each one's candidates.

Defined in numbers.md#23-probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kgdash.engine.softmax_kernels import SoftmaxSums, gather_softmax
from kgdash.engine.tasks import Asked, Shared
from kgdash.errors import KgdashError
from kgdash.graph import FILTERS
from kgdash.health.sweep import asked_by, sweep
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.scoring import ENTITY_SIDES, Scorer

#: why a model is refused
INFINITE = (
    "the model gives infinite scores, which have no probability; kgdash health says whose they are"
)


@dataclass(frozen=True)
class AnswerQueries:
    """The queries that triples ask on one side: candidates less the *other* known answers.

    ``triples``: int64, ``(n, 3)``; ``asked``: rows of rivals, those of equal queries once.
    """

    scorer: Scorer
    triples: np.ndarray
    asked: Asked

    @property
    def side(self) -> str:
        """Return the open side: "head" or "tail"."""
        return self.asked.side

    @property
    def anchors(self) -> np.ndarray:
        """Return the entity that each triple's query names: int64, ``(n,)``."""
        return self.triples[:, 0 if self.side == "tail" else 2]

    def some(self, chosen: np.ndarray) -> AnswerQueries:
        """Return the queries of some triples.

        :param chosen: bool, ``(n,)``
        """
        asked = self.asked
        rows, row = np.unique(asked.row[chosen], return_inverse=True)
        all_rows = np.arange(len(asked.anchors))
        shared = asked.shared or Shared(all_rows, np.full_like(all_rows, -1))
        fewer = replace(
            asked,
            anchors=asked.anchors[rows],
            relations=asked.relations[rows],
            row=row.reshape(-1),
            answer=asked.answer[chosen],
            shared=Shared(shared.query[rows], shared.own[rows]),
        )
        return AnswerQueries(self.scorer, self.triples[chosen], fewer)

    def visit(
        self,
        visitor: Callable[..., None],
        state: Callable[[], Any],
        progress: Progress = silent,
        own: np.ndarray | None = None,
    ) -> tuple[list[Any], np.ndarray]:
        """Show a visitor all scores of rivals, as `kgdash.health.sweep.sweep` does."""
        return sweep(self.scorer, self.asked, visitor, state, progress, own)

    def each_row(
        self, look: Callable[[int, np.ndarray], Any], progress: Progress = silent
    ) -> np.ndarray:
        """Show whole rows of rivals' scores, in any order, on several threads.

        :param look: takes the number of the row and its scores, ``(|E|,)``, NaN where left out
        :return: the score of each triple's own answer: ``(n,)``
        """

        def gather(rows: WholeRows, tile: np.ndarray, first: int) -> None:
            for row, rivals in enumerate(rows.add(tile), first):
                look(row, rivals)

        return self.visit(gather, lambda: WholeRows(self.scorer.num_entities), progress)[1]

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Spread values of triples, equal where the row is, over rows: ``(n,)`` → ``(rows,)``."""
        rows = np.empty(len(self.asked.anchors), dtype=values.dtype)
        rows[self.asked.row] = values
        return rows


class WholeRows:
    """Tiles of the same rows, put side by side until all candidates are there."""

    def __init__(self, columns: int) -> None:
        self._columns, self._tiles, self._width = columns, list[np.ndarray](), 0

    def add(self, tile: np.ndarray) -> np.ndarray:
        """Take a tile in; return the whole rows with their last one, before that none."""
        self._tiles.append(tile.copy())
        self._width += tile.shape[1]
        if self._width < self._columns:
            return tile[:0]
        rows = np.concatenate(self._tiles, axis=1)
        self._tiles, self._width = [], 0
        return rows


def answer_queries(
    run: Run, triples: np.ndarray, filter: str, sides: Sequence[str] = ENTITY_SIDES
) -> list[AnswerQueries]:
    """List the queries of triples on the sides "head" and "tail".

    :param triples: int64, ``(n, 3)``, n ≥ 1; they count as known too
    :param filter: of `kgdash.graph.FILTERS`: whose answers are no candidates
    """
    known = None if filter == "none" else run.graph.known_with(triples, FILTERS[filter])
    return [AnswerQueries(run.scorer, triples, asked_by(triples, known, side)) for side in sides]


@dataclass(frozen=True)
class Softmax:
    """Softmax with exp(β s) over the candidates C of each triple's query. float64, ``(n,)`` each.

    ``own``: the true answer's score; ``low`` and ``high``: the lowest and the highest one of all;
    ``normaliser`` = log Σ_C exp(β s); ``mean`` and ``variance`` of the score under it; ``squares``
    = Σ_C p².
    """

    beta: np.ndarray
    own: np.ndarray
    low: np.ndarray
    high: np.ndarray
    normaliser: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    squares: np.ndarray

    @property
    def confidence(self) -> np.ndarray:
        """Return the probability of the first candidate, in (0, 1]."""
        return np.exp(self.beta * self.high - self.normaliser)

    @property
    def log_true(self) -> np.ndarray:
        """Return log p of the true answer, ≤ 0."""
        return self.beta * self.own - self.normaliser

    @classmethod
    def of_nothing(cls, count: int) -> Softmax:
        """Return room for what is found of some triples."""
        return cls(*(np.full(count, np.nan) for _ in fields(cls)))

    def some(self, chosen: np.ndarray) -> Softmax:
        """Return what was found of some triples; ``chosen``: bool, ``(n,)``."""
        return Softmax(*(getattr(self, part.name)[chosen] for part in fields(self)))

    def put(self, where: np.ndarray, found: Softmax) -> None:
        """Write what was found of some triples; ``where``: bool, ``(n,)``."""
        for part in fields(self):
            getattr(self, part.name)[where] = getattr(found, part.name)

    def normaliser_at(self, beta: np.ndarray) -> np.ndarray:
        """Return log Σ_C exp(β' s) for a β' that is near: its Taylor series, to the second order.

        With σ² the variance, and β' within 0.05 / σ, about 2e-5 times the skewness off at most.
        """
        step = beta - self.beta
        return self.normaliser + step * self.mean + step**2 / 2 * self.variance


def softmax(
    queries: AnswerQueries,
    betas: Sequence[np.ndarray],
    progress: Progress = silent,
) -> list[Softmax]:
    """Sum up softmax over each query's candidates, at several inverse temperatures in one pass.

    :param betas: each triple's β > 0, float64, ``(n,)``; equal within a row
    :raises KgdashError: if a score is infinite
    """
    rows = len(queries.asked.anchors)
    spread = [queries.per_row(beta) for beta in betas]
    # Each row is one thread's, so that all may write into the same arrays.
    sums = [SoftmaxSums.of_nothing(rows) for _ in betas]

    def gather(_: None, tile: np.ndarray, first: int) -> None:
        for beta, found in zip(spread, sums, strict=True):
            gather_softmax(tile, first, beta, found)

    _, own = queries.visit(gather, lambda: None, progress)
    return [
        _of_triples(queries, beta, found, own.astype(np.float64))
        for beta, found in zip(betas, sums, strict=True)
    ]


def _of_triples(
    queries: AnswerQueries, beta: np.ndarray, sums: SoftmaxSums, own: np.ndarray
) -> Softmax:
    """Add each triple's own score to the sums over its rivals."""
    low, before, total, first, second, squares = (part[queries.asked.row] for part in sums)
    low, high = np.minimum(low, own), np.maximum(before, own)
    # Bins of scores from -inf on have no edges.
    if not all(np.isfinite(scores).all() for scores in (low, high, own)):
        raise KgdashError(INFINITE)
    down = np.where(np.isfinite(before), beta * (before - high), -np.inf)
    scale, down = np.exp(down), np.where(np.isfinite(down), down, 0.0)
    second = scale * (second + 2 * down * first + down**2 * total)
    first, total = scale * (first + down * total), scale * total
    x = beta * (own - high)
    weight = np.exp(x)
    total, first, second = total + weight, first + weight * x, second + weight * x**2
    squares = scale**2 * squares + weight**2
    mean = first / total
    return Softmax(
        beta=beta,
        own=own,
        low=low,
        high=high,
        normaliser=beta * high + np.log(total),
        mean=high + mean / beta,
        variance=np.maximum(second / total - mean**2, 0.0) / beta**2,
        squares=squares / total**2,
    )
