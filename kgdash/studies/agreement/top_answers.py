"""The first candidates of many queries at once, by rank, so that equal scores have no order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kgdash.progress import Progress, silent
from kgdash.studies.probability.answer_queries import AnswerQueries


class TopAnswers(NamedTuple):
    """Candidates of queries, those of one query side by side, best first.

    ``owner``: position of the query, ascending; ``entity``: int64; ``rank``: filtered realistic
    rank, float64, ≥ 1. ``(m,)`` each.
    """

    owner: np.ndarray
    entity: np.ndarray
    rank: np.ndarray


def top_answers(queries: AnswerQueries, most: int, progress: Progress = silent) -> TopAnswers:
    """Return the candidates of each triple's query whose realistic rank is at most so much.

    Candidates that tie have the mean of their places: they are all in or all out, and there may be
    more than ``most``, or none.

    :param most: ≥ 1
    """
    rows = len(queries.asked.anchors)
    entity = [np.zeros(0, dtype=np.int64)] * rows
    score = [np.zeros(0)] * rows

    def look(row: int, rivals: np.ndarray) -> None:
        entity[row], score[row] = _first(rivals, most)

    own = queries.each_row(look, progress)
    lengths = np.array([len(part) for part in entity])
    owner = np.repeat(np.arange(len(own)), lengths[queries.asked.row])
    chosen = queries.asked.row.tolist()
    entities = np.concatenate([*(entity[row] for row in chosen), queries.asked.answer])
    scores = np.concatenate([*(score[row] for row in chosen), own]).astype(np.float64)
    owner = np.concatenate([owner, np.arange(len(own))])
    order = np.lexsort((entities, -scores, owner))
    owner, entities, scores = owner[order], entities[order], scores[order]
    rank = _realistic_ranks(owner, scores)
    inside = rank <= most
    return TopAnswers(owner[inside], entities[inside], rank[inside])


def _first(rivals: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the best rivals: at least ``most``, or all, with those that tie with the last.

    Of many that tie with the last so many are left that none of them has a rank of ``most``.
    """
    entity = np.flatnonzero(~np.isnan(rivals))
    score = rivals[entity]
    if len(score) > most:
        least = np.partition(score, len(score) - most)[len(score) - most]
        kept = score > least
        ties = np.flatnonzero(score == least)[: 2 * most + 1]
        kept[ties] = True
        entity, score = entity[kept], score[kept]
    return entity, score


def _realistic_ranks(owner: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Rank scores within their owners, both sorted; equal ones have the mean of their places."""
    count = len(owner)
    if not count:
        return np.zeros(0)
    new_owner = np.flatnonzero(np.diff(owner, prepend=-1))
    changed = np.diff(owner, prepend=-1) != 0
    changed[1:] |= scores[1:] != scores[:-1]
    starts = np.flatnonzero(changed)
    lengths = np.diff(np.append(starts, count))
    before = np.repeat(new_owner, np.diff(np.append(new_owner, count)))
    middle = starts - before[starts] + (lengths + 1) / 2
    return np.repeat(middle, lengths)
