"""How strange an answer is among the candidates of its query, and how many are no stranger.

Three nonconformities of a candidate e, all lower for higher scores (numbers.md#24-answer-sets): its
filtered realistic rank; −log p(e), which orders as 1 − p(e) does; and the probability of all
candidates that are at least as probable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kgdash.engine.answer_kernels import ADAPTIVE, RANK, SOFTMAX, Asking, Limits, place_answers
from kgdash.errors import KgdashError
from kgdash.graph import IDS
from kgdash.progress import Progress, phases, silent
from kgdash.runs import Run
from kgdash.studies.probability.answer_queries import INFINITE, AnswerQueries, answer_queries
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
    asking, limits = Asking(starts, order, own), Limits(kinds, most)
    betas = queries.per_row(fitted.beta_of(queries))
    strange, sizes = np.empty((count, 3)), np.empty((count, len(allowed)), dtype=np.int32)

    def look(buffer: _Rows, tile: np.ndarray, first: int) -> None:
        whole = buffer.add(tile)
        if whole is not None:
            whole.sort(axis=1)  # NaN, which are no candidates, come last
            place_answers(whole, first, betas, asking, limits, strange, sizes)

    queries.visit(look, lambda: _Rows(queries.scorer.num_entities), progress, own)
    if not np.isfinite(strange).all():
        raise KgdashError(INFINITE)
    return strange, sizes


class _Rows:
    """Tiles of the same rows, put side by side until all candidates are there."""

    def __init__(self, columns: int) -> None:
        self._columns, self._tiles, self._width = columns, list[np.ndarray](), 0

    def add(self, tile: np.ndarray) -> np.ndarray | None:
        """Take a tile in; return the whole rows with its last one."""
        self._tiles.append(tile.copy())
        self._width += tile.shape[1]
        if self._width < self._columns:
            return None
        rows = np.concatenate(self._tiles, axis=1)
        self._tiles, self._width = [], 0
        return rows
