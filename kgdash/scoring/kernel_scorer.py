"""Models whose scores the engine computes itself, checked against PyKEEN's when they are loaded."""

from typing import Any

import torch

from kgdash.engine.device import pairwise
from kgdash.engine.form import InteractionForm, score_all, score_triples
from kgdash.errors import KgdashError
from kgdash.progress import Progress, silent
from kgdash.scoring.protocol import Scorer
from kgdash.scoring.pykeen_forms import form_of
from kgdash.scoring.pykeen_scorer import PyKEENScorer

#: triples per side that are compared at load, and by how much they may differ, as a share of the
#: largest score: float32 sums of some hundred terms stay far below, another formula far above
_COMPARED, _TOLERANCE = 256, 1e-4


class KernelScorer:
    """Scores with the engine's kernels: each score is the same number wherever it is asked for.

    Rows, single triples, and both sides of models without inverse relations agree to the last bit;
    with ConvE, whose convolution rounds by batch, only within a call. Relations are scored by
    PyKEEN. So is everything on an accelerator, where only the counting is the engine's.
    """

    def __init__(self, generic: PyKEENScorer, form: InteractionForm) -> None:
        """Score the model of ``generic`` by ``form``."""
        self.model = generic.model
        self.form: InteractionForm | None = form
        self._form = form
        self.num_entities, self.num_relations = form.num_entities, form.num_relations
        self.device = generic.device
        self._generic = generic
        self._on_cpu = form.device.type == "cpu"

    def score_tails(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all tails for (head, relation) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        if not self._on_cpu:
            return self._generic.score_tails(pairs, progress)
        heads, relations = pairs.numpy().T
        return torch.from_numpy(score_all(self._form, "tail", heads, relations))

    def score_heads(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all heads for (relation, tail) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        if not self._on_cpu:
            return self._generic.score_heads(pairs, progress)
        relations, tails = pairs.numpy().T
        return torch.from_numpy(score_all(self._form, "head", tails, relations))

    def score_relations(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all relations for (head, tail) pairs, ``(b, 2)`` → ``(b, |R|)``."""
        return self._generic.score_relations(pairs, progress)

    def score_triples(
        self, triples: torch.Tensor, side: str = "tail", progress: Progress = silent
    ) -> torch.Tensor:
        """Score triples, ``(b, 3)`` → ``(b,)``, through the inverse if ``side`` asks for it."""
        if not self._on_cpu:
            return self._generic.score_triples(triples, side, progress)
        return torch.from_numpy(score_triples(self._form, side, triples.numpy()))


def fastest_scorer(
    model: Any, device: torch.device | str | None = None
) -> tuple[Scorer, tuple[str, ...]]:
    """Return the fastest scorer that agrees with PyKEEN's scores.

    :param device: moved there first (default: left where it is); kernels are for the CPU
    :return: the scorer, and a note for the user if the kernels were tried and did not agree
    """
    generic = PyKEENScorer(model, device)
    form = form_of(generic.model)
    if form is None:
        return generic, ()
    difference = _largest_difference(generic, form)
    if difference <= _TOLERANCE:
        return KernelScorer(generic, form), ()
    return generic, (
        f"{form.name}'s fast kernel differs from PyKEEN's scores by {difference:.1g} of the "
        "largest one, so PyKEEN scores this model; that is slower, and as exact",
    )


def _largest_difference(generic: PyKEENScorer, form: InteractionForm) -> float:
    """Compare scores of random triples on both sides; NaN counts as infinitely different."""
    generator = torch.Generator().manual_seed(0)
    limits = (form.num_entities, form.num_relations, form.num_entities)
    triples = torch.stack(
        [torch.randint(limit, (_COMPARED,), generator=generator) for limit in limits], dim=1
    )
    worst = 0.0
    for side in ("tail", "head"):
        expected = generic.score_triples(triples, side)
        try:
            found = _scored_by_form(form, side, triples)
        except (KgdashError, RuntimeError):
            return float("inf")
        share = (found - expected).abs().max() / expected.abs().max().clamp_min(1e-30)
        worst = max(worst, float(share.nan_to_num(float("inf"))))
    return worst


def _scored_by_form(form: InteractionForm, side: str, triples: torch.Tensor) -> torch.Tensor:
    if form.device.type == "cpu":
        return torch.from_numpy(score_triples(form, side, triples.numpy()))
    anchor, other = (0, 2) if side == "tail" else (2, 0)
    on_device = triples.to(form.device)
    with torch.inference_mode():
        queries = form.queries(side, on_device[:, anchor], on_device[:, 1])
        vectors = form.vectors(side, on_device[:, other], on_device[:, 1])
        return pairwise(form.kind, queries, vectors).diagonal()
