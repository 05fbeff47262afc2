"""Any PyKEEN model as a Scorer."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import torch
from pykeen.nn.modules import (
    ComplExInteraction,
    ConvEInteraction,
    DistMultInteraction,
    PairREInteraction,
    RotatEInteraction,
    TransEInteraction,
)
from pykeen.nn.representation import Embedding

from kgdash.engine.form import InteractionForm
from kgdash.files.memory import memory_budget
from kgdash.progress import Progress, silent, stretch
from kgdash.scoring.reckoned_memory import KINDS, most_bytes, shadows

#: bytes that the temporaries of one call into PyKEEN may take, whatever the memory budget
_TEMPORARY_BYTES = 256 * 2**20

#: bytes that what is made of the candidates may take in each thread that scores: a few weights can
#: make many of them
_LAYER_BYTES = 2**28


#: scores of triples through the inverses of their relations
_INVERSE = "inverse"

#: interactions that make nothing wider than the vectors that they are given
_ELEMENTWISE = (
    ComplExInteraction,
    DistMultInteraction,
    PairREInteraction,
    RotatEInteraction,
    TransEInteraction,
)

#: how PyKEEN's methods call the candidates that alone are scored
_CHOSEN = {"predict_t": "tails", "predict_h": "heads", "predict_r": "relations"}


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
        self._rows: dict[str, int] = {}

    def score_tails(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all tails for (head, relation) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        return self._batched("predict_t", pairs, self.num_entities, progress)

    def score_heads(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all heads for (relation, tail) pairs, ``(b, 2)`` → ``(b, |E|)``."""
        return self._batched("predict_h", pairs, self.num_entities, progress)

    def score_relations(self, pairs: torch.Tensor, progress: Progress = silent) -> torch.Tensor:
        """Score all relations for (head, tail) pairs, ``(b, 2)`` → ``(b, |R|)``."""
        scores = self._batched("predict_r", pairs, self.model.num_relations, progress)
        # PyKEEN interleaves the inverse of relation r as 2r + 1.
        return scores[:, ::2].contiguous() if self.model.use_inverse_triples else scores

    def score_triples(
        self, triples: torch.Tensor, side: str = "tail", progress: Progress = silent
    ) -> torch.Tensor:
        """Score triples, ``(b, 3)`` → ``(b,)``, through the inverse if ``side`` asks for it."""
        through_inverse = side == "head" and self.model.use_inverse_triples
        method = _INVERSE if through_inverse else "predict_hrt"
        return self._batched(method, triples, 1, progress).squeeze(-1)

    @torch.inference_mode()
    def _batched(
        self, method: str, batch: torch.Tensor, columns: int, progress: Progress
    ) -> torch.Tensor:
        affordable = min(_TEMPORARY_BYTES, memory_budget() // 4)
        row = self._row_bytes(method, batch.shape[1], columns)
        size = max(1, min(affordable // (4 * self._width * columns), _LAYER_BYTES // row))
        at_once = max(1, columns * _LAYER_BYTES // row)
        score = _scoring(self.model, method)
        parts, done, total = [], 0, max(1, len(batch))
        for part in batch.split(size):
            rows, report = part.to(self.device), stretch(progress, done, done + len(part), total)
            if columns > at_once:
                parts.append(self._sliced(partial(score, rows), method, columns, at_once, report))
            else:
                parts.append(score(rows).detach())
                report(1, 1)
            done += len(part)
        if not parts:
            return torch.empty((0, columns), device=self.device)
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _sliced(
        self,
        score: Callable[..., torch.Tensor],
        method: str,
        columns: int,
        at_once: int,
        progress: Progress,
    ) -> torch.Tensor:
        """Score as PyKEEN does with a ``slice_size``, but tell how far it is."""
        parts = []
        for first in range(0, columns, at_once):
            last = min(first + at_once, columns)
            chosen = torch.arange(first, last, device=self.device)
            parts.append(score(**{_CHOSEN[method]: chosen}).detach())
            progress(last, columns)
        return torch.cat(parts, dim=-1)

    def _row_bytes(self, method: str, width: int, columns: int) -> int:
        """Return what scoring one row takes: reckoned, or by the widest layer where that fails."""
        if method not in self._rows:
            row = torch.zeros((1, width), dtype=torch.long, device="meta")
            bare = [] if _is_elementwise(self.model) else self._shadows
            tried = (most_bytes(partial(_scoring(each, method), row)) for each in bare)
            found = next((most for most in tried if most is not None), None)
            if found is None:
                found = 4 * columns * _widest_layer(self.model)
            self._rows[method] = max(1, found)
        return self._rows[method]

    @cached_property
    def _shadows(self) -> list[Any]:
        return shadows(self.model)


def _scoring(model: Any, method: str) -> Callable[..., torch.Tensor]:
    """Return what scores a batch by one of a model's methods."""
    found: Callable[..., torch.Tensor] = (
        partial(_score_inverse, model) if method == _INVERSE else getattr(model, method)
    )
    return found


def _score_inverse(model: Any, triples: torch.Tensor) -> torch.Tensor:
    prepared = model.relation_inverter.map(batch=triples, index=1, invert=False)
    scores: torch.Tensor = model.score_hrt_inverse(hrt_batch=prepared)
    return torch.sigmoid(scores) if model.predict_with_sigmoid else scores


def _is_elementwise(model: Any) -> bool:
    """Tell whether vectors are looked up and combined number by number: no need to reckon."""
    kept = [each for kind in KINDS for each in getattr(model, kind, ())]
    kind = type(getattr(model, "interaction", None))
    return kind in _ELEMENTWISE and all(type(each) is Embedding for each in kept)


def _widest_representation(model: Any) -> int:
    """Return the most floats that one entity or relation takes, temporaries counted."""
    # Representations that pass messages (RGCN, CompGCN) do not say whether they are complex.
    sizes = [
        int(torch.Size(representation.shape).numel())
        * (2 if getattr(representation, "is_complex", False) else 1)
        for kind in KINDS
        for representation in getattr(model, kind, ())
    ]
    return 3 * max(sizes, default=64)


def _widest_layer(model: Any) -> int:
    """Return the most floats that a layer makes of one candidate.

    ConvE's network, whose layers are wide, reads the query alone.
    """
    sizes = [size for kind in KINDS for r in getattr(model, kind, ()) for size in r.shape]
    interaction = getattr(model, "interaction", None)
    if interaction is not None and not isinstance(interaction, ConvEInteraction):
        sizes += [size for weights in interaction.parameters() for size in weights.shape]
    return max(sizes, default=1)


def best_device() -> torch.device:
    """Return the accelerator if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
