"""All scores that ranks compare, shown to a visitor block by block, NaN and infinities included.

Ranking refuses NaN (numbers.md#1-ranks); whoever asks why must see them.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from kgdash.engine.sweep import State, Visitor, sweep_form
from kgdash.engine.tasks import Asked, Shared, sorted_masks
from kgdash.files.memory import block_bytes
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, silent, stretch
from kgdash.scoring import Scorer, unchecked_rows


def asked_by(triples: np.ndarray, known: KnownTriples | None, side: str) -> Asked:
    """List the queries of triples on a side, with the candidates that are left out.

    Defined in numbers.md#1-ranks.

    Left out are known answers, and the triple's own: what is left are its rivals. Triples with the
    same rivals share a row.

    :param triples: int64, ``(n, 3)``
    :param known: triples whose answers are no candidates, or None for raw ranks
    :param side: "head" or "tail"
    """
    anchor_column, answer_column = (0, 2) if side == "tail" else (2, 0)
    own = triples[:, answer_column].copy()
    if known is not None:
        own[known.contains(triples)] = -1  # left out as a known answer anyway
    keys = np.stack([triples[:, 1], triples[:, anchor_column], own], axis=1)
    rows, _, row, _ = distinct_rows(keys)
    relations, anchors, own = (np.ascontiguousarray(column) for column in rows.T)
    asked = side, anchors, relations
    answers = triples[:, answer_column]
    if known is None:
        there = np.flatnonzero(own >= 0)
        return Asked(*asked, sorted_masks(there, own[there], len(rows)), row, answers)
    # Each triple that is not known has a row: they share what their query leaves out.
    queries, _, query_of, _ = distinct_rows(rows[:, :2])
    query = np.zeros((len(queries), 3), dtype=np.int64)
    query[:, 1], query[:, anchor_column] = queries.T
    owner, column = known.known_answers(query, side)
    masks = sorted_masks(owner, column, len(queries))
    if (own < 0).all():
        return Asked(*asked, masks, row, answers)
    return Asked(*asked, masks, row, answers, shared=Shared(query_of, own))


def sweep(
    scorer: Scorer,
    asked: Asked,
    visit: Visitor[State],
    state: Callable[[], State],
    progress: Progress = silent,
    own: np.ndarray | None = None,
) -> tuple[list[State], np.ndarray]:
    """Show the scores of all rivals, each row's in the order of the candidates.

    Models that have a form are scored by the engine on all threads, others row by row.

    :param visit: called with a state, a block of scores, float32 or float64 ``(rows, columns)``,
        NaN where a candidate is left out, and the number of its first row; may change the block
    :param state: makes a state; each is used by one thread at a time
    :param own: is filled with each triple's own score before its row is shown: float, ``(n,)``
    :return: the states, and the score of each triple's own answer: ``(n,)``
    """
    if scorer.form is not None and scorer.form.device.type == "cpu":
        return sweep_form(scorer.form, asked, visit, state, progress, own)
    own = np.zeros(len(asked.row), dtype=np.float64) if own is None else own
    only = state()
    queries = asked.anchors, asked.relations
    for start, scores in all_scores(scorer, asked.side, *queries, progress=progress):
        stop = start + len(scores)
        inside = np.flatnonzero((asked.row >= start) & (asked.row < stop))
        own[inside] = scores[asked.row[inside] - start, asked.answer[inside]]
        starts, columns = asked.masks_of(start, stop)
        left_out = columns[starts[0] : starts[-1]]
        scores[np.repeat(np.arange(stop - start), np.diff(starts)), left_out] = np.nan
        visit(only, scores, start)
        progress(stop, len(asked.anchors))
    return [only], own


def distinct_queries(triples: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return anchors and relations of the queries that triples ask on a side, each once."""
    anchor_column = 0 if side == "tail" else 2
    anchors, relations = distinct_rows(triples[:, [anchor_column, 1]]).rows.T
    return np.ascontiguousarray(anchors), np.ascontiguousarray(relations)


def all_scores(
    scorer: Scorer,
    side: str,
    anchors: np.ndarray,
    relations: np.ndarray,
    first: int | None = None,
    progress: Progress = silent,
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield blocks of the scores of all candidates, NaN and infinities as they come.

    :param anchors: entities of the queries, ``relations`` likewise: int64, ``(n,)``
    :param first: queries of the first block; default: what fits
    :return: number of the block's first query, and a new array ``(rows, |E|)``, float64 if the
        model gives that, else float32
    """
    queries = np.stack((anchors, relations) if side == "tail" else (relations, anchors), axis=1)
    most = max(1, block_bytes() // (8 * scorer.num_entities))
    start, rows = 0, min(first or most, most)
    while start < len(queries):
        block = queries[start : start + rows]
        report = stretch(progress, start, start + len(block), len(queries))
        scores = unchecked_rows(scorer, side, block, report)
        kind = torch.float64 if scores.dtype == torch.float64 else torch.float32
        yield start, np.array(scores.detach().to("cpu", kind).numpy(), order="C")
        start, rows = start + rows, most
