"""A function of vectors as a Scorer."""

from collections.abc import Callable

import torch

from kgdash.engine.form import InteractionForm
from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
from kgdash.progress import Progress, silent

#: scores of vectors of heads, relations and tails, whose leading dimensions broadcast
ScoreFunction = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]

#: vectors of the broadcast shape that a function may have in hand at once
_TEMPORARIES = 4


class CallableScorer:
    """Scores with a function that somebody wrote; rows at a time, and by row as single triples.

    It is given copies, which it may change.
    """

    form: InteractionForm | None = None

    def __init__(
        self, score: ScoreFunction, entities: torch.Tensor, relations: torch.Tensor
    ) -> None:
        """Take a function and the vectors, ``(|E|, …)`` and ``(|R|, …)``, that it is given.

        :raises KgdashError: if it does not return a score for each triple
        """
        self._score, self._entities, self._relations = score, entities, relations
        self.num_entities, self.num_relations = len(entities), len(relations)
        self.device = entities.device
        width = max(entities[0].numel(), relations[0].numel())
        self._row_bytes = 8 * _TEMPORARIES * width
        self.score_tails(torch.zeros((1, 2), dtype=torch.long))

    def score_tails(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all tails for (head, relation) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        heads, relations = self._entities[pairs[:, 0]], self._relations[pairs[:, 1]]
        return self._rows(
            self.num_entities,
            len(pairs),
            lambda part: (heads[part, None], relations[part, None], self._entities.clone()[None]),
            progress,
        )

    def score_heads(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all heads for (relation, tail) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        relations, tails = self._relations[pairs[:, 0]], self._entities[pairs[:, 1]]
        return self._rows(
            self.num_entities,
            len(pairs),
            lambda part: (self._entities.clone()[None], relations[part, None], tails[part, None]),
            progress,
        )

    def score_relations(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all relations for (head, tail) pairs, ``(b, 2)`` → ``(b, |R|)``."""
        heads, tails = self._entities[pairs[:, 0]], self._entities[pairs[:, 1]]
        return self._rows(
            self.num_relations,
            len(pairs),
            lambda part: (heads[part, None], self._relations.clone()[None], tails[part, None]),
            progress,
        )

    def score_triples(
        self, triples: torch.Tensor, side: str = "tail", progress: Progress = silent
    ) -> torch.Tensor:
        """Score triples, ``(b, 3)`` → ``(b,)``: the same function on both sides."""
        heads, relations, tails = triples.T
        vectors = self._entities[heads], self._relations[relations], self._entities[tails]
        return self._rows(
            1, len(triples), lambda part: tuple(v[part, None] for v in vectors), progress
        ).squeeze(1)

    @torch.inference_mode()
    def _rows(
        self,
        columns: int,
        count: int,
        vectors: Callable[[slice], tuple[torch.Tensor, ...]],
        progress: Progress,
    ) -> torch.Tensor:
        step = max(1, memory_budget() // 4 // (self._row_bytes * columns))
        out = torch.empty((count, columns))
        for start in range(0, count, step):
            part = slice(start, min(start + step, count))
            found = self._score(*vectors(part))
            wanted = (part.stop - part.start, columns)
            if not isinstance(found, torch.Tensor) or found.shape != wanted or found.is_complex():
                shape = getattr(found, "shape", type(found).__name__)
                raise KgdashError(
                    f"the function gave {shape} for vectors that broadcast to {wanted}: expected "
                    "one real score for each, its last dimensions summed over"
                )
            out[part] = found
            progress(part.stop, count)
        return out
