"""All scores of one relation's queries: the softmax of each, and those that reach a bound."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kgdash.engine.discovery_kernels import Found, Scored, collect_above, normalise_rows
from kgdash.engine.form import InteractionForm, Panels, query_vectors
from kgdash.engine.kernels import Masks
from kgdash.engine.tasks import task_rows
from kgdash.engine.workers import run_in_threads
from kgdash.progress import Progress, silent

#: scores that a thread finds before it hands them on
_ROOM = 2**18

#: takes rows and columns, int64, and scores, float32, ``(n,)`` each, on any thread
Take = Callable[[np.ndarray, np.ndarray, np.ndarray], None]

#: returns, of the rows from one number to another, the least score that is taken
Bounds = Callable[[int, int], np.ndarray]

_Part = tuple[int, int]


@dataclass(frozen=True)
class RelationRows:
    """Queries of one relation with one side open: a row each; and candidates: a column each.

    ``anchors``: int64, ``(rows,)``; ``masks``: the columns that each row leaves out; ``panels``:
    the candidates' vectors. The form is on the CPU.
    """

    form: InteractionForm
    side: str
    relation: int
    anchors: np.ndarray
    masks: Masks
    panels: Panels

    def normalisers(
        self, beta: float, progress: Progress = silent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's greatest score, and log Σ exp(β s) over its scores s.

        :param beta: > 0
        :return: float64, ``(rows,)`` each; -inf where a row has no candidate
        """
        high = np.empty(len(self.anchors), dtype=np.float32)
        total = np.empty(len(self.anchors))
        scale = np.float32(beta)

        def work(part: _Part, _: None) -> float:
            rows = slice(*part)
            normalise_rows(self._scored(part), scale, high[rows], total[rows])
            return float(part[1] - part[0])

        run_in_threads(self._parts(), work, lambda: None, float(len(high)), progress)
        with np.errstate(divide="ignore"):
            return high.astype(np.float64), beta * high.astype(np.float64) + np.log(total)

    def above(self, bounds: Bounds, take: Take, progress: Progress = silent) -> None:
        """Hand on all scores that reach a bound, in parts and in any order."""

        def work(part: _Part, found: Found) -> float:
            scored, done = self._scored(part), False
            found.place[:] = 0
            while not done:
                done = collect_above(scored, bounds(*part), found)
                count, found.place[2] = int(found.place[2]), 0
                take(
                    part[0] + found.row[:count].astype(np.int64),
                    found.column[:count].astype(np.int64),
                    found.score[:count].copy(),
                )
            return float(part[1] - part[0])

        state = lambda: Found.of_nothing(_ROOM)  # noqa: E731
        run_in_threads(self._parts(), work, state, float(len(self.anchors)), progress)

    def _parts(self) -> Iterator[_Part]:
        count = len(self.anchors)
        most = task_rows(self.form, self.form.num_entities)
        step = max(12, min(most, -(-count // (4 * torch.get_num_threads()))))
        return ((first, min(first + step, count)) for first in range(0, count, step))

    @torch.inference_mode()
    def _scored(self, part: _Part) -> Scored:
        first, last = part
        anchors = self.anchors[first:last]
        relations = np.full(len(anchors), self.relation)
        queries = query_vectors(self.form, self.side, anchors, relations)
        masks = Masks(self.masks.starts[first : last + 1], self.masks.columns)
        panels = self.panels
        return Scored(self.form.kind, queries, len(anchors), panels.blocks, panels.count, masks)
