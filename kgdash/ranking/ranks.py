"""Scores → table of filtered ranks, one row per triple and side (numbers.md#1-ranks)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch

from kgdash.engine.counting import count_ranks
from kgdash.engine.row_counting import count_above_thresholds
from kgdash.errors import KgdashError
from kgdash.files.memory import block_bytes
from kgdash.graph import IDS
from kgdash.graph.known_triples import SIDES, KnownTriples
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent, stretch
from kgdash.scoring import ENTITY_SIDES, Scorer, score_rows


def rank_triples(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples | None,
    sides: Sequence[str] = ("head", "tail"),
    progress: Progress = silent,
    entities: np.ndarray | None = None,
) -> pd.DataFrame:
    """Rank each triple among the candidates of its query, by numbers.md#1-ranks.

    With g remaining candidates scored strictly higher than the true one and q others scored
    exactly equal: optimistic = g + 1, pessimistic = g + q + 1, realistic = their mean.

    :param scorer: the model
    :param triples: int64, shape ``(n, 3)``: ids of head, relation, tail
    :param known: triples removed from the candidates (the true one never is), or None for raw ranks
    :param sides: any of "head" (?, r, t), "tail" (h, r, ?), "relation" (h, ?, t)
    :param progress: called with (done, total)
    :param entities: the only candidates on the entity sides (numbers.md#3-restriction), ids, among
        them both ends of all
        triples; default: all
    :return: one row per side and triple, sides one after another in the given order, triples in
        theirs: ``head, relation, tail`` (int64 ids), ``side`` (str), ``optimistic`` (int64, ≥ 1),
        ``realistic`` (float64), ``pessimistic`` (int64), ``candidates`` (int64: the N_i of
        numbers.md#2-metrics, the true one included)
    :raises KgdashError: if a score is NaN, or a side is unknown
    """
    check_sides(sides)
    if entities is not None:
        entities = np.unique(entities)
        if not np.isin(triples[:, [0, 2]], entities).all():
            raise KgdashError("expected all ends of the ranked triples among the candidates")
    parts = []
    for side, report in zip(sides, phases(progress, [1.0] * len(sides)), strict=True):
        greater, equal, candidates = count_greater_and_equal(
            scorer, triples, known, side, report, entities
        )
        parts.append(rank_rows(triples, side, greater, equal, candidates))
    return pd.concat(parts, ignore_index=True)


def check_sides(sides: Sequence[str]) -> None:
    """Refuse sides that there are not, and none at all.

    :raises KgdashError: if so
    """
    wrong = [side for side in sides if side not in SIDES]
    if wrong or not len(sides):
        found = ", ".join(wrong) or "none"
        raise KgdashError(f"expected sides out of {', '.join(SIDES)}; found {found}")


def rank_rows(
    triples: np.ndarray,
    side: str,
    greater: np.ndarray,
    equal: np.ndarray,
    candidates: np.ndarray,
) -> pd.DataFrame:
    """Turn the counts of `count_greater_and_equal` into rows of `rank_triples`."""
    table = pd.DataFrame(triples, columns=IDS)
    table["side"] = side
    table["optimistic"] = greater + 1
    table["realistic"] = greater + equal / 2 + 1
    table["pessimistic"] = greater + equal + 1
    table["candidates"] = candidates
    return table


def count_greater_and_equal(
    scorer: Scorer,
    triples: np.ndarray,
    known: KnownTriples | None,
    side: str,
    progress: Progress = silent,
    entities: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count, per triple, the candidates that beat and that tie with the true answer.

    Each distinct query is scored once. The engine counts models that have a form. Of the others'
    queries, the known answers are looked up once, not once per triple that asks the same.

    :param entities: the only candidates on the entity sides, ids in ascending order
    :return: three int64 arrays of shape ``(n,)``: strictly better candidates, equal candidates
        (the true one not counted), candidates left (the true one counted)
    """
    if scorer.form is not None and side in ENTITY_SIDES:
        return count_ranks(scorer.form, triples, known, side, progress, entities)
    query_columns, answer_column = SIDES[side]
    size = scorer.num_relations if side == "relation" else scorer.num_entities
    greater, equal = (np.zeros(len(triples), dtype=np.int64) for _ in range(2))
    place = _places(size, entities if side in ENTITY_SIDES else None)
    kept = place[place >= 0]
    candidates = np.full(len(triples), len(kept), dtype=np.int64)
    queries, _, query_of, _ = distinct_rows(triples[:, query_columns])
    order = np.argsort(query_of, kind="stable")
    for block, members in _blocks(len(queries), query_of[order], block_bytes() // (4 * size)):
        rows = order[members]
        report = stretch(progress, block.start, block.stop, len(queries))
        scores = score_rows(scorer, side, queries[block], report)
        if len(kept) < size:
            scores = scores[:, torch.from_numpy(np.flatnonzero(place >= 0)).to(scores.device)]
        row, answer = query_of[rows] - block.start, place[triples[rows, answer_column]]
        own = scores[_on(row, scores), _on(answer, scores)]
        counted = np.ones(len(rows), dtype=bool)
        if known is not None:
            query = np.zeros((len(scores), 3), dtype=np.int64)
            query[:, query_columns] = queries[block]
            owner, value = known.known_answers(query, side)
            owner, value = owner[place[value] >= 0], place[value[place[value] >= 0]]
            left_out = np.bincount(owner, minlength=len(scores))[row]
            counted = ~known.contains(triples[rows])
            candidates[rows] -= left_out - ~counted
            # Below all but the lowest: there they are counted as ties, and taken off.
            lowest = scores.new_tensor(-torch.inf)
            scores = scores.index_put((_on(owner, scores), _on(value, scores)), lowest)
            equal[rows] -= np.where((own == lowest).cpu().numpy(), left_out, 0)
        counts = count_above_thresholds(scores, own, row)
        greater[rows] = counts[:, 0]
        equal[rows] += counts[:, 1] - counted
        report(1, 1)
    return greater, equal, candidates


def _on(numbers: np.ndarray, scores: torch.Tensor) -> torch.Tensor:
    """Return numbers on the device of the scores."""
    return torch.from_numpy(numbers).to(scores.device)


def _places(size: int, chosen: np.ndarray | None) -> np.ndarray:
    """Return the column of each of ``size`` candidates among the chosen ones, -1 for the others."""
    place = np.full(size, -1, dtype=np.int64)
    columns = np.arange(size) if chosen is None else chosen
    place[columns] = np.arange(len(columns))
    return place


def _blocks(queries: int, query_of: np.ndarray, rows: int) -> Iterator[tuple[slice, slice]]:
    """Cut the queries into blocks of at most ``rows``, each with the slice of its triples."""
    for start in range(0, queries, max(1, rows)):
        stop = min(start + max(1, rows), queries)
        first, last = np.searchsorted(query_of, [start, stop])
        yield slice(start, stop), slice(int(first), int(last))
