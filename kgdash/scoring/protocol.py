"""The Scorer protocol: a model as a black box s: E×R×E → ℝ, higher is more plausible.

Defined in numbers.md#1-ranks.
"""

from typing import Protocol

import numpy as np
import torch

from kgdash.engine.form import InteractionForm
from kgdash.errors import KgdashError
from kgdash.progress import Progress, silent

ENTITY_SIDES = ("head", "tail")


class Scorer(Protocol):
    """Scores blocks of candidates.

    All inputs are int64 tensors of ids, all outputs float tensors on ``device``. Implementations
    bound their own temporary memory; the caller only has to afford the block that it asks for.
    Scores of one query do not depend on the other queries of the block beyond float rounding.
    ``progress`` is called with (done, total) as parts are scored, and may raise to end it.
    """

    num_entities: int
    num_relations: int
    device: torch.device
    #: how the engine can count this model's scores as it computes them; None: it is given rows
    form: InteractionForm | None

    def score_tails(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all tails for (head, relation) pairs: ``(b, 2)`` → ``(b, |E|)``."""

    def score_heads(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all heads for (relation, tail) pairs: ``(b, 2)`` → ``(b, |E|)``."""

    def score_relations(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all relations for (head, tail) pairs: ``(b, 2)`` → ``(b, |R|)``."""

    def score_triples(
        self, triples: torch.Tensor, side: str = "tail", progress: Progress = silent
    ) -> torch.Tensor:
        """Score single triples, ``(b, 3)`` → ``(b,)``, as the given side's candidates score.

        The side only matters to models with inverse triples, whose heads are scored through the
        inverse relation.
        """


def score_rows(
    scorer: Scorer, side: str, queries: np.ndarray, progress: Progress = silent
) -> torch.Tensor:
    """Score all candidates of a side's queries and refuse NaN.

    :param queries: as `unchecked_rows` takes them
    :return: scores, shape ``(b, |E|)`` or ``(b, |R|)``
    :raises KgdashError: if a score is NaN, since a NaN can not be ranked (numbers.md#1-ranks)
    """
    return refuse_nan(unchecked_rows(scorer, side, queries, progress))


def unchecked_rows(
    scorer: Scorer, side: str, queries: np.ndarray, progress: Progress = silent
) -> torch.Tensor:
    """Score all candidates of a side's queries, NaN as they come.

    :param side: "head" for (relation, tail) queries, "relation" for (head, tail), "tail" for
        (head, relation)
    :param queries: int64, shape ``(b, 2)``, in the column order of the triple
    :param progress: called with (done, total) as parts are scored; may raise to cancel
    :return: scores, shape ``(b, |E|)`` or ``(b, |R|)``
    """
    score = {
        "head": scorer.score_heads,
        "relation": scorer.score_relations,
        "tail": scorer.score_tails,
    }[side]
    return score(torch.from_numpy(np.ascontiguousarray(queries)), progress)


def refuse_nan(scores: torch.Tensor) -> torch.Tensor:
    """Return ``scores`` as they are.

    :raises KgdashError: if some are NaN; the message counts them
    """
    # A sum is NaN if any score is, and costs far less than a mask; inf - inf is told apart below.
    if torch.isnan(scores.sum()) and (missing := int(torch.isnan(scores).sum())):
        raise KgdashError(
            f"the model gives NaN for {missing:,} of {scores.numel():,} scores in one block; NaN "
            "has no rank. Check the weights: training has probably diverged"
        )
    return scores
