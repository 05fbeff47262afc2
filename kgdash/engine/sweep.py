"""Showing all scores of queries to a visitor, tile by tile, while they are in a core's cache."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from kgdash.engine.form import InteractionForm, own_scores, padded, query_vectors
from kgdash.engine.microkernels import LANES
from kgdash.engine.scoring_kernels import COLUMNS, ROWS
from kgdash.engine.sweep_kernels import fill_masked
from kgdash.engine.tasks import Asked, LatestPanels, Task, query_chunks, query_tasks
from kgdash.engine.workers import run_in_threads
from kgdash.files.memory import memory_budget
from kgdash.progress import Progress, phases, silent

State = TypeVar("State")

#: takes a thread's state, a tile of scores (NaN: left out) and the number of its first row
Visitor = Callable[[State, np.ndarray, int], None]


@dataclass(frozen=True)
class _Chunk:
    """Query vectors, float32 ``(n padded, K)``, and the number of the first one."""

    start: int
    vectors: np.ndarray


class _Thread(LatestPanels, Generic[State]):
    """What a thread keeps between tasks."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state
        self.tile = np.empty((ROWS, COLUMNS), dtype=np.float32)


def sweep_form(
    form: InteractionForm,
    asked: Asked,
    visit: Visitor[State],
    state: Callable[[], State],
    progress: Progress = silent,
    own: np.ndarray | None = None,
) -> tuple[list[State], np.ndarray]:
    """Show all scores of queries, each once, in tiles of some rows and some of the candidates.

    A row's tiles come in the order of the candidates, one after another, on one thread.

    :param form: the model, on the CPU
    :param visit: must not keep the tile; may change it
    :param own: is filled with each triple's own score before its row is shown: float, ``(n,)``
    :return: the states, and each triple's own score: float32, ``(n,)``, the very numbers that the
        tiles hold
    """
    own = np.empty(len(asked.row), dtype=np.float32) if own is None else own
    states: list[State] = []
    size = form.num_entities if asked.entities is None else len(asked.entities)
    chunks = query_chunks(form, len(asked.anchors), 1, memory_budget())
    reports = phases(progress, [float(stop - start) for start, stop in chunks])
    for (start, stop), report in zip(chunks, reports, strict=True):
        relations = asked.relations[start:stop]
        vectors = query_vectors(form, asked.side, asked.anchors[start:stop], relations)
        inside = np.flatnonzero((asked.row >= start) & (asked.row < stop))
        row = asked.row[inside] - start
        own[inside] = own_scores(
            form, asked.side, vectors, row, asked.answer[inside], relations[row]
        )

        def work(task: Task, thread: _Thread[State], chunk=_Chunk(start, vectors)) -> float:
            _show(form, asked, chunk, task, thread, visit)
            return float(task.last - task.first)

        tasks = query_tasks(form, asked.side, relations, size)
        threads = run_in_threads(tasks, work, lambda: _Thread(state()), float(stop - start), report)
        states += [thread.state for thread in threads]
    return states, own


def _show(
    form: InteractionForm,
    asked: Asked,
    chunk: _Chunk,
    task: Task,
    thread: _Thread[State],
    visit: Visitor[State],
) -> None:
    """Show the scores of a task's rows of a chunk."""
    panels = thread.panels_of(form, asked.side, task.relation, asked.entities)
    begin, count = chunk.start + task.first, task.last - task.first
    queries, per_tile = padded(chunk.vectors[task.first : task.last]), COLUMNS // LANES
    for first_row in range(0, count, ROWS):
        last_row = min(first_row + ROWS, count)
        masks = asked.masks_of(begin + first_row, begin + last_row)
        for first in range(0, len(panels.blocks), per_tile):
            last = min(first + per_tile, len(panels.blocks))
            fill_masked(
                form.kind,
                queries[first_row:],
                last_row - first_row,
                panels.blocks,
                first,
                last,
                panels.count,
                masks,
                thread.tile,
            )
            width = min(panels.count - first * LANES, COLUMNS)
            visit(thread.state, thread.tile[: last_row - first_row, :width], begin + first_row)
