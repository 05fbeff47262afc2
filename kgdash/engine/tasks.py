"""Cutting the queries of a job into tasks for threads, and what all tasks need."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kgdash.engine.form import InteractionForm, Panels, candidate_panels
from kgdash.engine.kernels import Counts, Masks

#: multiplications that a task takes: some hundredths of a second
_TASK = 2**30
#: the part of the memory budget that query vectors may take; to make them takes some times as much
_QUERIES = 16
#: queries made at once where each is a network's output: a second's work or so
_COSTLY = 2**14


@dataclass(frozen=True)
class Asked:
    """Queries of one side, sorted by relation, and the triples that ask them.

    ``anchors`` and ``relations``: int64, ``(rows,)``; ``masks``: the candidates that each row
    leaves out; ``row`` and ``answer``: of each triple, int64, ``(n,)``; ``entities``: the only
    candidates, ids in the order of the masks' columns (None: all entities).
    """

    side: str
    anchors: np.ndarray
    relations: np.ndarray
    masks: Masks
    row: np.ndarray
    answer: np.ndarray
    entities: np.ndarray | None = None


@dataclass(frozen=True)
class Task:
    """Some consecutive rows of a job, all of one relation unless the candidates are fixed."""

    first: int
    last: int
    relation: int


def query_tasks(form: InteractionForm, side: str, relations: np.ndarray) -> Iterator[Task]:
    """Cut rows, given by their relations in ascending order, into tasks."""
    fixed = form.is_fixed(side)
    most = task_rows(form)
    least = max(12, min(most, -(-len(relations) // (4 * torch.get_num_threads()))))
    cuts = [0, len(relations)]
    if not fixed:
        cuts = [*np.flatnonzero(np.diff(relations, prepend=-1)).tolist(), len(relations)]
    step = least if fixed else max(least, most)
    for start, stop in itertools.pairwise(cuts):
        for first in range(start, stop, step):
            yield Task(first, min(first + step, stop), int(relations[first]))


def query_chunks(
    form: InteractionForm, count: int, queries_each: int, memory: int
) -> list[tuple[int, int]]:
    """Cut a number of groups so that their query vectors fit into their part of the memory."""
    queries = memory // _QUERIES // (4 * form.dimension)
    if not form.elementwise:
        queries = min(queries, _COSTLY)
    size = max(1, queries // queries_each)
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def task_rows(form: InteractionForm) -> int:
    """Return how many queries a task takes."""
    return max(1, _TASK // (form.num_entities * max(64, form.dimension)))


class LatestPanels:
    """The panels that a thread laid out last."""

    def __init__(self) -> None:
        self._latest: tuple[int, Panels] | None = None

    def panels_of(
        self, form: InteractionForm, side: str, relation: int, entities: np.ndarray | None = None
    ) -> Panels:
        """Return the candidates' vectors under a relation, laid out for the kernels."""
        relation = 0 if form.is_fixed(side) else relation
        if self._latest is None or self._latest[0] != relation:
            self._latest = relation, candidate_panels(form, side, relation, entities)
        return self._latest[1]


class CountingThread(LatestPanels):
    """What a thread that counts keeps between tasks: panels, and its counts."""

    def __init__(self, *counts: Counts) -> None:
        super().__init__()
        self.counts = counts


def sorted_masks(row: np.ndarray, column: np.ndarray, rows: int) -> Masks:
    """Sort (row, column) pairs by row.

    :param row: int64, ``(n,)``, in ``[0, rows)``
    :param column: int64, ``(n,)``, in ascending order within a row
    """
    order = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int64)
    return Masks(starts, np.ascontiguousarray(column[order], dtype=np.int64))


def no_masks(rows: int) -> Masks:
    """Return the masks of rows that leave nothing out."""
    return Masks(np.zeros(rows + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
