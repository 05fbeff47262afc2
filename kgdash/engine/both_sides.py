"""Counting better negatives around heads and around tails, from one pass over all scores."""

from collections.abc import Iterator

import numpy as np
import torch

from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import InteractionForm, query_vectors, score_triples
from kgdash.engine.kernels import count_both
from kgdash.engine.tasks import CountingThread, Task, sorted_masks, task_rows
from kgdash.engine.workers import run_in_threads
from kgdash.graph.known_triples import KnownTriples
from kgdash.progress import Progress, silent


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
