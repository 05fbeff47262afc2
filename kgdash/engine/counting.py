"""Counting better candidates and better negatives with a model's form.

Candidates: numbers.md#1-ranks; negatives: numbers.md#4-relik.

Every job is rows (queries) in groups; each triple's own score is a threshold of its group. Ranks
have one group per query. For ReliK a group is an entity, and its rows are the queries of all
relations around it. Known triples become NaN in the tile, where they exceed nothing, so that each
is touched once however many triples it is a rival of.
"""

from collections.abc import Iterator

import numpy as np
import torch

from kgdash.engine.bounds import Thresholds
from kgdash.engine.device import count_rows_on_device
from kgdash.engine.form import InteractionForm, own_scores, padded, query_vectors, score_triples
from kgdash.engine.kernels import Masks, count_both, count_rows
from kgdash.engine.tasks import (
    Asked,
    CountingThread,
    Task,
    no_masks,
    query_chunks,
    query_tasks,
    sorted_masks,
    task_rows,
)
from kgdash.engine.turned_kernels import Turned, count_turned
from kgdash.engine.workers import run_in_threads
from kgdash.files.memory import memory_budget
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.progress import Progress, phases, silent


def count_ranks(
    form: InteractionForm,
    triples: np.ndarray,
    known: KnownTriples | None,
    side: str,
    progress: Progress = silent,
    entities: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count, per triple, the candidates that beat and that tie with the true answer.

    Defined in numbers.md#1-ranks.

    :param triples: int64, ``(n, 3)``
    :param known: triples whose answers are no candidates, or None for raw ranks
    :param side: "head" or "tail"
    :param entities: the only candidates (numbers.md#3-restriction), ids in ascending order, among
        them all answers
    :return: int64, ``(n,)`` each: strictly better, equal (the triple itself not counted),
        candidates left (the triple itself counted)
    """
    anchor_column, answer_column = (0, 2) if side == "tail" else (2, 0)
    # Sorted by relation first: rows of a relation stand together.
    pairs, _, query_of, _ = distinct_rows(triples[:, [1, anchor_column]])
    greater, equal = (np.zeros(len(triples), dtype=np.int64) for _ in range(2))
    size = form.num_entities if entities is None else len(entities)
    candidates = np.full(len(triples), size, dtype=np.int64)
    chunks = query_chunks(form, len(pairs), 1, memory_budget())
    reports = phases(progress, [float(b - a) for a, b in chunks])
    for (start, stop), report in zip(chunks, reports, strict=True):
        inside = np.flatnonzero((query_of >= start) & (query_of < stop))
        part = triples[inside]
        relations, anchors = pairs[start:stop].T
        group = query_of[inside] - start
        masks, left_out = no_masks(stop - start), np.zeros(len(part), dtype=bool)
        if known is not None:
            query = np.zeros((stop - start, 3), dtype=np.int64)
            query[:, 1], query[:, anchor_column] = relations, anchors
            owner, answer = known.known_answers(query, side)
            if entities is not None:
                place = np.minimum(np.searchsorted(entities, answer), len(entities) - 1)
                inside_too = entities[place] == answer
                owner, answer = owner[inside_too], place[inside_too]
            masks = sorted_masks(owner, answer, stop - start)
            left_out = known.contains(part)
            others = np.bincount(owner, minlength=stop - start)[group]
            candidates[inside] -= others - left_out
        asked = Asked(side, anchors, relations, masks, group, part[:, answer_column], entities)
        greater[inside], ties = _count(form, asked, np.arange(stop - start), report)
        equal[inside] = ties - ~left_out
    return greater, equal, candidates


def count_negatives(
    form: InteractionForm,
    triples: np.ndarray,
    known: KnownTriples,
    side: str,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Count the negatives around each triple's head (or tail) that beat and tie with it.

    Defined in numbers.md#4-relik.

    :param side: "head" for N⁻(h), "tail" for N⁻(t)
    :return: int64, ``(n,)`` each: strictly better, equal (the triple itself not counted)
    """
    candidate_side = "tail" if side == "head" else "head"
    anchor_column, other_column = (0, 2) if side == "head" else (2, 0)
    anchors, group = np.unique(triples[:, anchor_column], return_inverse=True)
    greater, equal = (np.zeros(len(triples), dtype=np.int64) for _ in range(2))
    is_known = known.contains(triples)
    num_relations = form.num_relations
    chunks = query_chunks(form, len(anchors), num_relations, memory_budget())
    reports = phases(progress, [float(b - a) for a, b in chunks])
    for (start, stop), report in zip(chunks, reports, strict=True):
        inside = np.flatnonzero((group >= start) & (group < stop))
        part, count = triples[inside], stop - start
        # Row (relation, anchor): rows of a relation stand together.
        owner, position = known.triples_with_entity(anchors[start:stop], side)
        relation, other = np.divmod(position, form.num_entities)
        asked = Asked(
            candidate_side,
            np.tile(anchors[start:stop], num_relations),
            np.repeat(np.arange(num_relations), count),
            sorted_masks(relation * count + owner, other, num_relations * count),
            part[:, 1] * count + group[inside] - start,
            part[:, other_column],
        )
        groups = np.tile(np.arange(count), num_relations)
        greater[inside], ties = _count(form, asked, groups, report)
        equal[inside] = ties - ~is_known[inside]
    return greater, equal


def count_both_sides(
    form: InteractionForm,
    triples: np.ndarray,
    known: KnownTriples,
    progress: Progress = silent,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Count as `count_negatives` for "head" and "tail", from one pass over all |E|²·|R| scores.

    Only for forms with one function. It pays where most entities occur on both sides.
    """
    own = score_triples(form, "tail", triples)
    sides = [Thresholds.of(own, triples[:, column], form.num_entities) for column in (0, 2)]
    everyone = np.arange(form.num_entities)
    owner, position = known.triples_with_entity(everyone, "head")
    relation, tail = np.divmod(position, form.num_entities)
    order = np.argsort(relation, kind="stable")
    owner, tail = owner[order], tail[order]
    starts = np.searchsorted(relation[order], np.arange(form.num_relations + 1))
    rows = max(1, min(form.num_entities, task_rows(form, form.num_entities)))

    def tasks() -> Iterator[Task]:
        for number in range(form.num_relations):
            for first in range(0, form.num_entities, rows):
                yield Task(first, min(first + rows, form.num_entities), number)

    @torch.inference_mode()
    def work(task: Task, thread: CountingThread) -> float:
        panels = thread.panels_of(form, "tail", task.relation)
        count = task.last - task.first
        vectors = query_vectors(
            form, "tail", everyone[task.first : task.last], np.full(count, task.relation)
        )
        known_rows = slice(starts[task.relation], starts[task.relation + 1])
        first, last = np.searchsorted(owner[known_rows], [task.first, task.last])
        masks = sorted_masks(
            owner[known_rows][first:last] - task.first, tail[known_rows][first:last], count
        )
        count_both(
            form.kind,
            vectors,
            count,
            task.first,
            panels.blocks,
            panels.count,
            masks,
            sides[0].bounds,
            thread.counts[0],
            sides[1].bounds,
            thread.counts[1],
        )
        return float(count) * form.num_entities

    total = float(form.num_entities) ** 2 * form.num_relations
    threads = run_in_threads(
        tasks(),
        work,
        lambda: CountingThread(*(side.counts() for side in sides)),
        total,
        progress,
    )
    itself = ~known.contains(triples)
    results = []
    for number, side in enumerate(sides):
        greater, equal = side.result([thread.counts[number] for thread in threads])
        results.append((greater, equal - itself))
    return results[0], results[1]


def _uses_kernels(form: InteractionForm) -> bool:
    return form.device.type == "cpu"


def _count(
    form: InteractionForm, asked: Asked, groups: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Count, for each triple, the scores of its group that exceed and that equal its own.

    :param groups: the group of each row, int64, ``(rows,)``; one has a row per relation at most
    """
    if not _uses_kernels(form):
        return count_rows_on_device(form, asked, groups, progress)
    vectors = query_vectors(form, asked.side, asked.anchors, asked.relations)
    relations = asked.relations[asked.row]
    own = own_scores(form, asked.side, vectors, asked.row, asked.answer, relations)
    thresholds = Thresholds.of(own, groups[asked.row], int(groups.max(initial=-1)) + 1)

    turn = form.turn(asked.side)
    size = form.num_entities if asked.entities is None else len(asked.entities)

    @torch.inference_mode()
    def work(task: Task, thread: CountingThread) -> float:
        rows, count = slice(task.first, task.last), task.last - task.first
        panels, queries = thread.panels_of_task(form, asked, task, turn), padded(vectors[rows])
        masks = Masks(asked.masks.starts[task.first : task.last + 1], asked.masks.columns)
        against = groups[rows], masks, thresholds.bounds, thread.counts[0]
        if turn is None:
            blocks = panels.blocks, panels.count
            count_rows(form.kind, queries, count, *blocks, *against, task.begin)
        else:
            laid_out = Turned(turn.kind, panels.blocks, panels.count, task.begin, turn.relations)
            count_turned(form.kind, queries, asked.relations[rows], laid_out, *against)
        return float(count) * (task.end - task.begin)

    threads = run_in_threads(
        query_tasks(form, asked.side, asked.relations, size, cut=True),
        work,
        lambda: CountingThread(thresholds.counts()),
        float(len(asked.relations)) * size,
        progress,
    )
    return thresholds.result([thread.counts[0] for thread in threads])
