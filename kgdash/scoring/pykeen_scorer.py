"""Any PyKEEN model as a Scorer."""

from collections.abc import Callable
from typing import Any

import torch
from pykeen.nn.modules import ConvEInteraction

from kgdash.engine.form import InteractionForm
from kgdash.engine.memory import memory_budget

#: bytes that the temporaries of one call into PyKEEN may take, whatever the memory budget
_TEMPORARY_BYTES = 256 * 2**20

#: bytes that one layer's values of the candidates may take: a few weights can make many of them
_LAYER_BYTES = 2**31


class PyKEENScorer:
    """Scores with PyKEEN's own prediction methods: evaluation mode, no gradient, batched.

    Models trained with inverse triples score heads through the inverse relation, as PyKEEN does.
    """

    form: InteractionForm | None = None

    def __init__(self, model: Any, device: torch.device | str | None = None) -> None:
        """Wrap a ``pykeen.models.Model``; ``device`` moves it first (default: leave it)."""
        self.model = (model if device is None else model.to(device)).eval()
        self.num_entities: int = model.num_entities
        self.num_relations: int = model.num_real_relations
        self.device: torch.device = model.device
        self._width = _widest_representation(model)
        self._layer = _widest_layer(model)

    def score_tails(self, pairs: torch.Tensor) -> torch.Tensor:
        """Score all tails for (head, relation) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        return self._batched(self.model.predict_t, pairs, self.num_entities)

    def score_heads(self, pairs: torch.Tensor) -> torch.Tensor:
        """Score all heads for (relation, tail) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        return self._batched(self.model.predict_h, pairs, self.num_entities)

    def score_relations(self, pairs: torch.Tensor) -> torch.Tensor:
        """Score all relations for (head, tail) pairs, ``(b, 2)`` → ``(b, |R|)``."""
        scores = self._batched(self.model.predict_r, pairs, self.model.num_relations)
        # PyKEEN interleaves the inverse of relation r as 2r + 1.
        return scores[:, ::2].contiguous() if self.model.use_inverse_triples else scores

    def score_triples(self, triples: torch.Tensor, side: str = "tail") -> torch.Tensor:
        """Score triples, ``(b, 3)`` → ``(b,)``, through the inverse if ``side`` asks for it."""
        through_inverse = side == "head" and self.model.use_inverse_triples
        score = self._score_inverse if through_inverse else self.model.predict_hrt
        return self._batched(score, triples, 1).squeeze(-1)

    def _score_inverse(self, triples: torch.Tensor) -> torch.Tensor:
        prepared = self.model.relation_inverter.map(batch=triples, index=1, invert=False)
        scores = self.model.score_hrt_inverse(hrt_batch=prepared)
        return torch.sigmoid(scores) if self.model.predict_with_sigmoid else scores

    @torch.inference_mode()
    def _batched(
        self, score: Callable[..., torch.Tensor], batch: torch.Tensor, columns: int
    ) -> torch.Tensor:
        affordable = min(_TEMPORARY_BYTES, memory_budget() // 4)
        at_once = max(1, _LAYER_BYTES // (4 * self._layer))
        size = max(1, min(affordable // (4 * self._width * columns), at_once // columns))
        slices = {"slice_size": at_once} if columns > at_once else {}
        parts = [score(part.to(self.device), **slices) for part in batch.split(size)]
        if not parts:
            return torch.empty((0, columns), device=self.device)
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def _widest_representation(model: Any) -> int:
    """Return the most floats that one entity or relation takes, temporaries counted."""
    # Representations that pass messages (RGCN, CompGCN) do not say whether they are complex.
    sizes = [
        int(torch.Size(representation.shape).numel())
        * (2 if getattr(representation, "is_complex", False) else 1)
        for kind in ("entity_representations", "relation_representations")
        for representation in getattr(model, kind, ())
    ]
    return 3 * max(sizes, default=64)


def _widest_layer(model: Any) -> int:
    """Return the most floats that a layer makes of one candidate.

    ConvE's network, whose layers are wide, reads the query alone.
    """
    kinds = ("entity_representations", "relation_representations")
    sizes = [size for kind in kinds for r in getattr(model, kind, ()) for size in r.shape]
    interaction = getattr(model, "interaction", None)
    if interaction is not None and not isinstance(interaction, ConvEInteraction):
        sizes += [size for weights in interaction.parameters() for size in weights.shape]
    return max(sizes, default=1)


def best_device() -> torch.device:
    """Return the accelerator if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
