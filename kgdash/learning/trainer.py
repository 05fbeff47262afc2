"""One epoch after another: softmax over all entities, for every training triple both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from kgdash.learning.queries import Batch, Queries
from kgdash.learning.softmax import by_distances, by_products
from kgdash.learning.weights import Weights

#: scores that are held at once; larger batches go in parts
_MOST_SCORES = 2**25

#: what names of the optimizer's tensors begin with in a state
_MEMORY = "optimizer."


@dataclass(frozen=True)
class Settings:
    """How an epoch goes.

    ``rows``: queries of a batch; ``answers``: of one query that share a row, at most; ``n3``:
    weight of the nuclear 3-norm of a triple's vectors; ``spread``: as for `Weights`.
    """

    rows: int = 256
    answers: int = 16
    n3: float = 0.0
    spread: float = 0.01


def is_like(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Tell whether a tensor has another's shape and type, and no NaN or infinity."""
    same = (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    return same and bool(found.isfinite().all())


class Trainer:
    """A model's weights, what the optimizer remembers of them, and the random numbers to come."""

    def __init__(
        self,
        model: Any,
        queries: Queries,
        settings: Settings,
        optimizer: Callable[[list[torch.Tensor]], torch.optim.Optimizer],
        seed: int,
    ) -> None:
        """Draw the weights.

        :param model: PyKEEN's; `Weights.fill` of ``weights`` gives it what was learned
        :param optimizer: makes one, of tensors to change
        :raises KgdashError: if it is not one of `kgdash.learning.weights.MODELS`
        """
        self.random = torch.Generator().manual_seed(seed)
        self.weights = Weights(model, settings.spread, self.random)
        self._model, self._queries, self._settings = model, queries, settings
        for tensor in (self.weights.entities, *self.weights.relations):
            tensor.grad = torch.zeros_like(tensor)
        self._optimizer = optimizer(self.weights.trained())

    def epoch(self, report: Callable[[float], None]) -> float:
        """Train on every triple once, both ways; return the mean cross-entropy.

        :param report: called with the share of the epoch that is done; may raise
        """
        batches = self._queries.batches(self._settings.rows, self.random)
        self._model.train()
        total = 0.0
        for number, batch in enumerate(batches, start=1):
            total += self._step(batch) * len(batch.answers)
            report(number / len(batches))
        self._model.eval()
        self.weights.fill()
        return total / len(self._queries.triples)

    def state(self) -> dict[str, torch.Tensor]:
        """Return all that is needed to go on."""
        trained = self.weights.trained()
        found = {f"weights.{i}": each.detach() for i, each in enumerate(trained)}
        found |= dict(self._buffers())
        for i, each in enumerate(trained):
            kept = self._optimizer.state[each]
            found |= {f"{_MEMORY}{i}.{name}": torch.as_tensor(v) for name, v in kept.items()}
        return found | {"random": self.random.get_state(), "torch": torch.get_rng_state()}

    def go_on(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from what `state` returned.

        :raises ValueError: if it is that of another training, or damaged; then nothing is changed
        """
        self._check(state)
        with torch.no_grad():
            for i, each in enumerate(self.weights.trained()):
                each.copy_(state[f"weights.{i}"])
                mine = f"{_MEMORY}{i}."
                self._optimizer.state[each] = {
                    name.removeprefix(mine): kept.clone()
                    for name, kept in state.items()
                    if name.startswith(mine)
                }
            for name, buffer in self._buffers():
                buffer.copy_(state[name])
        self.random.set_state(state["random"])
        torch.set_rng_state(state["torch"])
        self.weights.fill()

    def _check(self, state: Mapping[str, torch.Tensor]) -> None:
        """Refuse what `state` of this training does not return."""
        like = {name: each for name, each in self.state().items() if not name.startswith(_MEMORY)}
        for i, each in enumerate(self.weights.trained()):
            mine = {name for name in state if name.startswith(f"{_MEMORY}{i}.")}
            like |= {name: each if state[name].ndim else torch.zeros(()) for name in mine}
        if set(state) != set(like) or not all(is_like(state[name], like[name]) for name in like):
            raise ValueError("the state of another training")
        for name in ("random", "torch"):
            try:
                torch.Generator().set_state(state[name])
            except RuntimeError as error:
                raise ValueError(f"no state of random numbers: {error}") from None

    def _buffers(self) -> list[tuple[str, torch.Tensor]]:
        named = self._model.interaction.named_buffers()
        return [(f"buffers.{name}", buffer) for name, buffer in named]

    def _step(self, batch: Batch) -> float:
        """Follow the gradient of loss and norm; return the loss."""
        for tensor in self.weights.trained():
            if tensor.grad is not None:
                tensor.grad.zero_()
        rows = max(2, _MOST_SCORES // len(self.weights.entities))
        parts = [batch] if len(batch.sizes) <= rows else list(batch.split(rows))
        loss = sum(self._gradient(part, len(part.answers) / len(batch.answers)) for part in parts)
        if self._settings.n3:
            self._add_norm(batch)
        self.weights.tangential(self.weights.entities.grad)
        self._optimizer.step()
        self.weights.project()
        return loss

    def _gradient(self, batch: Batch, share: float) -> float:
        """Add the gradient of a batch's loss, times its share of a larger one's; return that."""
        weights, (heads, kinds) = self.weights, batch.queries.T
        h = weights.entities[heads, : weights.width].requires_grad_()
        r = [each[kinds].requires_grad_() for each in weights.relations]
        query, scale = weights.query(h, r)
        by_entity: Any = weights.entities.grad
        step = (query.detach(), weights.entities, batch, by_entity, share)
        if weights.is_distance:
            query_now, *rest = step
            weighted = None if scale is None else scale.detach()
            loss, by_query, by_scale = by_distances(query_now, weighted, *rest)
        else:
            (loss, by_query), by_scale = by_products(*step), None
        live = [(query, by_query)] + ([] if by_scale is None else [(scale, by_scale)])
        torch.autograd.backward([each for each, _ in live], [by for _, by in live])
        by_entity[:, : weights.width].index_add_(0, heads, h.grad)
        for whole, part in zip(weights.relations, r, strict=True):
            whole.grad.index_add_(0, kinds, part.grad)
        return loss

    def _add_norm(self, batch: Batch) -> None:
        """Add the gradient of the mean of ‖h‖³ + ‖r‖³ + ‖t‖³ (3-norms) over a batch's triples."""
        weights, n3, (heads, kinds) = self.weights, 3 * self._settings.n3, batch.queries.T
        by_entity: Any = weights.entities.grad[:, : weights.width]
        entities, share = weights.entities[:, : weights.width], n3 * batch.share
        by_entity.index_add_(0, heads, share * self._cube(entities[heads]))
        tails = self._cube(entities[batch.answers])
        by_entity.index_add_(0, batch.answers, tails, alpha=n3 / len(batch.answers))
        if not weights.has_phases:
            for each in weights.relations:
                each.grad.index_add_(0, kinds, share * self._cube(each[kinds]))

    def _cube(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return |x| x, a third of the gradient of |x|³, of each number, complex or real."""
        if not self.weights.is_complex:
            return vectors.abs() * vectors
        pairs = vectors.unflatten(-1, (-1, 2))
        return (pairs.norm(dim=-1, keepdim=True) * pairs).flatten(-2)
