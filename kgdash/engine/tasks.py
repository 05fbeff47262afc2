"""Cutting the queries of a job into tasks for threads, and what all tasks need."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from kgdash.engine.form import LAID_OUT, InteractionForm, Panels, Turn, candidate_panels
from kgdash.engine.kernels import Masks
from kgdash.engine.row_kernels import Counts
from kgdash.engine.scoring_kernels import COLUMNS
from kgdash.files.memory import memory_budget
from kgdash.graph.sorted_slices import expand_slices

#: multiplications that a task takes: some hundredths of a second
_TASK = 2**30
#: the part of the memory budget that query vectors may take; to make them takes some times as much
_QUERIES = 16
#: the part of the memory budget that what a thread lays out at once may take
_PANELS = 128
#: queries made at once where each is a network's output: a second's work or so
_COSTLY = 2**14


class Shared(NamedTuple):
    """Which masks each row shares with others, and what it leaves out besides.

    ``query``: the number of its masks; ``own``: one candidate more (-1: none): int64, ``(rows,)``.
    """

    query: np.ndarray
    own: np.ndarray


@dataclass(frozen=True)
class Asked:
    """Queries of one side, sorted by relation, and the triples that ask them.

    ``anchors`` and ``relations``: int64, ``(rows,)``; ``masks``: the candidates that each row
    leaves out; ``row`` and ``answer``: of each triple, int64, ``(n,)``; ``entities``: the only
    candidates, ids in the order of the masks' columns (None: all entities); ``shared``: None where
    each row has masks of its own.
    """

    side: str
    anchors: np.ndarray
    relations: np.ndarray
    masks: Masks
    row: np.ndarray
    answer: np.ndarray
    entities: np.ndarray | None = None
    shared: Shared | None = None

    def left_out(self) -> np.ndarray:
        """Count the candidates that each row leaves out: int64, ``(rows,)``."""
        lengths = np.diff(self.masks.starts)
        if self.shared is None:
            return lengths
        return lengths[self.shared.query] + (self.shared.own >= 0)

    def masks_of(self, first: int, last: int) -> Masks:
        """Return the masks of some rows."""
        starts, columns = self.masks
        if self.shared is None:
            return Masks(starts[first : last + 1], columns)
        query, own = (part[first:last] for part in self.shared)
        owner, place = expand_slices(starts[query], starts[query + 1] - starts[query])
        more = np.flatnonzero(own >= 0)
        owner, column = np.append(owner, more), np.append(columns[place], own[more])
        order = np.lexsort((column, owner))
        return sorted_masks(owner[order], column[order], last - first)


@dataclass(frozen=True)
class Task:
    """Some consecutive rows of a job, all of one relation unless the candidates are fixed.

    ``begin`` and ``end``: of the candidates that they are scored against.
    """

    first: int
    last: int
    relation: int
    begin: int = 0
    end: int = 0


def query_tasks(
    form: InteractionForm, side: str, relations: np.ndarray, size: int, cut: bool = False
) -> Iterator[Task]:
    """Cut rows, given by their relations in ascending order, into tasks.

    :param size: how many candidates there are
    :param cut: candidates may be cut, too, and turned: a row may be in several tasks
    """
    alike = form.is_fixed(side) or (cut and form.turn(side) is not None)
    block = laid_out_at_once(form) if cut else max(1, size)
    most, threads = task_rows(form, min(block, size)), torch.get_num_threads()
    # So many blocks keep all threads busy; else the rows must.
    enough = most if size > 4 * threads * block else -(-len(relations) // (4 * threads))
    least = max(12, min(most, enough))
    cuts = [0, len(relations)]
    if not alike:
        cuts = [*np.flatnonzero(np.diff(relations, prepend=-1)).tolist(), len(relations)]
    step = least if alike else max(least, most)
    for start, stop in itertools.pairwise(cuts):
        for begin in range(0, size, block):
            for first in range(start, stop, step):
                rows, end = (first, min(first + step, stop)), min(begin + block, size)
                yield Task(*rows, int(relations[first]), begin, end)


def laid_out_at_once(form: InteractionForm) -> int:
    """Return how many candidates a thread lays out at once: whole tiles."""
    numbers = min(LAID_OUT, memory_budget() // _PANELS // 4)
    return max(1, numbers // form.dimension // COLUMNS) * COLUMNS


def query_chunks(
    form: InteractionForm, count: int, queries_each: int, memory: int
) -> list[tuple[int, int]]:
    """Cut a number of groups so that their query vectors fit into their part of the memory."""
    queries = memory // _QUERIES // (4 * form.dimension)
    if not form.elementwise:
        queries = min(queries, _COSTLY)
    size = max(1, queries // queries_each)
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def task_rows(form: InteractionForm, candidates: int) -> int:
    """Return how many queries a task takes."""
    return max(1, _TASK // (max(1, candidates) * max(64, form.dimension)))


class LatestPanels:
    """The panels that a thread laid out last."""

    def __init__(self) -> None:
        self._latest: tuple[tuple[int, int], Panels] | None = None

    def panels_of(
        self, form: InteractionForm, side: str, relation: int, entities: np.ndarray | None = None
    ) -> Panels:
        """Return the candidates' vectors under a relation, laid out for the kernels."""
        key = (0 if form.is_fixed(side) else relation), 0
        if self._latest is None or self._latest[0] != key:
            self._latest = key, candidate_panels(form, side, relation, entities)
        return self._latest[1]

    def panels_of_task(
        self, form: InteractionForm, asked: Asked, task: Task, turn: Turn | None
    ) -> Panels:
        """Lay out the candidates of a task: their own vectors, if they are to be turned."""
        alike = turn is not None or form.is_fixed(asked.side)
        key = (0 if alike else task.relation), task.begin
        if self._latest is None or self._latest[0] != key:
            self._latest = None  # no two are in memory at once
            chosen = np.arange(task.begin, task.end)
            if asked.entities is not None:
                chosen = asked.entities[task.begin : task.end]
            if turn is None:
                panels = candidate_panels(form, asked.side, task.relation, chosen)
            else:
                panels = Panels.of(turn.entities[torch.from_numpy(chosen)].numpy())
            self._latest = key, panels
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
