"""What of a PyKEEN model is trained, laid out as its scores need it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from kgdash.engine.microkernels import DOT, L2
from kgdash.errors import KgdashError
from kgdash.scoring.pykeen_forms import PyKEENForm, form_of

#: the models that can be trained so
MODELS = ("ComplEx", "DistMult", "ConvE", "TransE", "RotatE", "PairRE")


class Weights:
    """The numbers that are trained: ``entities`` ``(n, k)``, ``relations`` and ``network``.

    ``entities`` is what candidates are scored by: of ConvE with each entity's bias as last column.
    A relation has one vector or two. RotatE's are kept as phases, PairRE's entities as unit
    vectors, as PyKEEN has them.
    """

    def __init__(self, model: Any, spread: float, random: torch.Generator) -> None:
        """Draw a model's weights anew.

        :param model: PyKEEN's, with inverse relations, on the CPU
        :param spread: standard deviation of the entries of vectors; 0 keeps PyKEEN's
        :raises KgdashError: if its scores are neither inner products nor Euclidean distances
        """
        self._model, name = model, type(model).__name__
        form = form_of(model)
        if form is None or name not in MODELS or form.kind not in (DOT, L2):
            raise KgdashError(
                f"the loop softmax trains {', '.join(MODELS)}, with scores that are inner products "
                f"or Euclidean distances; found {name} with other ones: for TransE say "
                "model.scoring_fct_norm=2, for PairRE model.p=2"
            )
        self.is_distance, self._form = form.kind == L2, form
        self.is_weighted = not form.right_fixed
        self.has_phases, self._has_units = name == "RotatE", name == "PairRE"
        self.is_complex = name in ("ComplEx", "RotatE")
        self.network = list(model.interaction.parameters())
        self.width = form.entities[0].shape[1]
        self.entities, *self.relations = self._drawn(form, spread, random)

    def _drawn(
        self, form: PyKEENForm, spread: float, random: torch.Generator
    ) -> list[torch.Tensor]:
        found = [form.entities[-1].clone(), *(each.clone() for each in form.relations)]
        if self.has_phases:
            found[1] = torch.atan2(found[1][:, 1::2], found[1][:, ::2])
        if spread and not self.network:
            found = [spread * torch.randn(each.shape, generator=random) for each in found]
        if spread and self.has_phases:
            found[1] = math.pi * (2 * torch.rand(found[1].shape, generator=random) - 1)
        if spread and self._has_units:
            found[0] = torch.nn.functional.normalize(found[0])
            found[1:] = [each + 1 for each in found[1:]]
        return found

    def trained(self) -> list[torch.Tensor]:
        """Return all that an optimizer is to change."""
        return [self.entities, *self.relations, *self.network]

    def query(
        self, heads: torch.Tensor, relations: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the vectors of queries and, where scores have them, their relations' weights.

        :param heads: of the queries' entities, ``(b, width)``
        :param relations: of the queries' relations, as they are kept
        """
        kinds = list(relations)
        if self.has_phases:
            kinds = [torch.stack([kinds[0].cos(), kinds[0].sin()], -1).flatten(-2)]
        weights = kinds[1] if self.is_weighted else None
        return self._form.left([heads], kinds), weights

    def project(self) -> None:
        """Put entities back where they belong after a step."""
        if self._has_units:
            torch.nn.functional.normalize(self.entities, out=self.entities)

    def tangential(self, by_entity: torch.Tensor) -> None:
        """Take from a gradient what only changes the length of unit vectors."""
        if self._has_units:
            along = (by_entity * self.entities).sum(1, keepdim=True)
            by_entity.addcmul_(self.entities, along, value=-1)

    def fill(self) -> None:
        """Give the model the weights as they are."""
        relations = self.relations
        if self.has_phases:
            phases = relations[0]
            relations = [torch.stack([phases.cos(), phases.sin()], -1).flatten(-2)]
        parts = list(self.entities.tensor_split([self.width], 1))
        sources = [parts[0], *[part.flatten() for part in parts[1:] if part.numel()], *relations]
        model = self._model
        kept = [*model.entity_representations, *model.relation_representations]
        with torch.no_grad():
            for representation, source in zip(kept, sources, strict=True):
                weight = next(representation.parameters())
                weight.copy_(source.reshape(weight.shape))
