"""How strange an answer is among the candidates of its query, and how many are no stranger.

Three nonconformities of a candidate e, all lower for higher scores (numbers.md#24-answer-sets): its
filtered realistic rank; −log p(e), which orders as 1 − p(e) does; and the probability of all
candidates that are at least as probable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kgdash.engine.answer_kernels import ADAPTIVE, RANK, SOFTMAX, Asking, Limits, place_answers
from kgdash.errors import KgdashError
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import (
    INFINITE,
    AnswerQueries,
    Softmax,
    WholeRows,
    answer_queries,
)
from kgdash.studies.probability.calibration import Calibration

#: nonconformities
SCORES = {
    "rank": "filtered realistic rank",
    "softmax": "improbability: 1 − p",
    "adaptive": "probability of all that are at least as probable",
}

_KINDS = {"rank": RANK, "softmax": SOFTMAX, "adaptive": ADAPTIVE}

#: of some triples, what a set of their query allows: a score of `SCORES`, and the greatest
#: nonconformity of each, float64, ``(n,)``; +inf lets all in
Allowed = tuple[str, np.ndarray]


@dataclass(frozen=True)
class Candidates:
    """The candidates of one triple's query, best first.

    ``scores``: descending, float64, ``(N,)``; ``mass``: the probability of each and of all before
    it, ascending to 1; ``log_p``: of each.
    """

    scores: np.ndarray
    mass: np.ndarray
    log_p: np.ndarray

    @classmethod
    def of(cls, rivals: np.ndarray, own: float, beta: float) -> Candidates:
        """Put the true answer among its rivals; NaN are no candidates."""
        scores = np.sort(np.append(rivals[~np.isnan(rivals)], own).astype(np.float64))[::-1]
        weight = np.exp(beta * (scores - scores[0]))
        mass = np.cumsum(weight)
        log_p = beta * (scores - scores[0]) - np.log(mass[-1])
        return cls(scores, mass / mass[-1], log_p)

    def adaptive(self, own: float) -> float:
        """Return the probability of all candidates that score at least so much."""
        return float(self.mass[self._up_to(own) - 1])

    def size(self, score: str, most: float) -> int:
        """Return how many candidates are no stranger than ``most``.

        :param score: of `SCORES`
        """
        if np.isposinf(most):
            return len(self.scores)
        if score == "softmax":
            return int(np.searchsorted(-self.log_p, most, side="right"))
        if score == "adaptive":
            return self._without_part(int(np.searchsorted(self.mass, most, side="right")))
        count = min(int(most), len(self.scores))
        if count == 0:
            return 0
        tied = self.scores[count - 1]
        first, last = self._above(tied), self._up_to(tied)
        # Candidates first + 1 … last tie: each has the mean of these ranks.
        return last if (first + 1 + last) / 2 <= most else first

    def _without_part(self, count: int) -> int:
        """Return the count without a part of candidates that tie: they are in together or out."""
        if 0 < count < len(self.scores) and self.scores[count] == self.scores[count - 1]:
            return self._above(self.scores[count])
        return count

    def _above(self, score: float) -> int:
        return int(np.searchsorted(-self.scores, -score, side="left"))

    def _up_to(self, score: float) -> int:
        return int(np.searchsorted(-self.scores, -score, side="right"))


def answer_scores(
    run: Run, fitted: Calibration, triples: np.ndarray, filter: str, progress: Progress = silent
) -> pd.DataFrame:
    """Return how strange each true answer is.

    :param fitted: whose temperatures make p
    :param triples: int64, ``(n, 3)``
    :param filter: of `kgdash.graph.FILTERS`
    :return: one row per side and triple, all heads first: ``head, relation, tail``, ``side``, and
        each of `SCORES` as float64: ``rank`` ≥ 1, ``softmax`` = −log p ≥ 0, ``adaptive`` in (0, 1]
    :raises KgdashError: if a score is NaN or infinite
    """
    run.ranks(triples=triples, filter=filter)  # refuses NaN
    sides, parts = answer_queries(run, triples, filter), []
    for queries, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        strange, _ = place_in_queries(queries, fitted, [], report)
        named = pd.DataFrame(strange, columns=list(SCORES))
        ids = pd.DataFrame(triples, columns=IDS).assign(side=queries.side)
        parts.append(pd.concat([ids, named], axis=1))
    return pd.concat(parts, ignore_index=True)


def place_in_queries(
    queries: AnswerQueries,
    fitted: Calibration,
    allowed: Sequence[Allowed],
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Look at all candidates of triples' queries once: how strange is the answer, and what is not?

    :param allowed: of each kind of sets that is wanted
    :return: nonconformities of the answers, float64, ``(n, 3)``, in the order of `SCORES`, and how
        many candidates each set holds, int32, ``(n, kinds of sets)``
    :raises KgdashError: if a score is infinite
    """
    count, rows = len(queries.triples), len(queries.asked.anchors)
    kinds = np.array([_KINDS[score] for score, _ in allowed], dtype=np.int64)
    most = np.empty((count, len(allowed)))
    for at, (_, values) in enumerate(allowed):
        most[:, at] = values
    order = np.argsort(queries.asked.row, kind="stable")
    starts = np.searchsorted(queries.asked.row[order], np.arange(rows + 1))
    own = np.empty(count)
    asking = Asking(starts, order, own, queries.per_row(fitted.beta_of(queries)))
    limits = Limits(kinds, most)
    strange, sizes = np.empty((count, 3)), np.empty((count, len(allowed)), dtype=np.int32)

    def look(buffer: WholeRows, tile: np.ndarray, first: int) -> None:
        whole = buffer.add(tile)
        if len(whole):
            whole.sort(axis=1)  # NaN, which are no candidates, come last
            place_answers(whole, first, asking, limits, strange, sizes)

    queries.visit(look, lambda: WholeRows(queries.scorer.num_entities), progress, own)
    if not np.isfinite(strange).all():
        raise KgdashError(INFINITE)
    return strange, sizes


def look_at_all(
    queries: AnswerQueries,
    found: Softmax,
    look: Callable[[int, Candidates], Any],
    progress: Progress = silent,
) -> None:
    """Show the candidates of each triple's query, in any order, on several threads.

    :param found: softmax of the queries
    :param look: takes the number of the triple and its candidates
    """
    order = np.argsort(queries.asked.row, kind="stable")
    starts = np.searchsorted(queries.asked.row[order], np.arange(len(queries.asked.anchors) + 1))

    def look_at_row(row: int, rivals: np.ndarray) -> None:
        for at in order[starts[row] : starts[row + 1]]:
            look(int(at), Candidates.of(rivals, found.own[at], found.beta[at]))

    queries.each_row(look_at_row, progress)
