"""Models that PyKEEN does not have, made as its own are, so that everything takes them alike."""

from typing import Any

import torch
from pykeen.models import ERModel, Model
from pykeen.nn.modules import Interaction


class DotInteraction(Interaction):
    """s(h, r, t) = ⟨h, t⟩: vectors of entities alone, such as those of words."""

    relation_shape = ()

    def forward(self, h: torch.Tensor, r: Any, t: torch.Tensor) -> torch.Tensor:
        """Score batches, ``(…, d)`` each, whose leading dimensions broadcast."""
        return (h * t).sum(dim=-1)


class RotatESumInteraction(Interaction):
    """s(h, r, t) = −Σₖ |hₖ rₖ − tₖ|: RotatE as Sun et al. (2019) published its code.

    PyKEEN's RotatE takes the Euclidean norm of the differences instead.
    """

    is_complex = True

    def forward(self, h: torch.Tensor, r: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        """Score batches, complex ``(…, d)`` each, whose leading dimensions broadcast."""
        return -(h * r - t).abs().sum(dim=-1)


class Dot(ERModel):
    """Entities only; every relation has the same scores."""

    def __init__(self, *, embedding_dim: int = 50, **kwargs: Any) -> None:
        super().__init__(
            interaction=DotInteraction,
            entity_representations_kwargs={"shape": embedding_dim},
            relation_representations=[],
            **kwargs,
        )


class RotatESum(ERModel):
    """RotatE whose differences' moduli are added."""

    def __init__(self, *, embedding_dim: int = 200, **kwargs: Any) -> None:
        shape = {"shape": embedding_dim, "dtype": torch.cfloat}
        super().__init__(
            interaction=RotatESumInteraction,
            entity_representations_kwargs=dict(shape),
            relation_representations_kwargs=dict(shape),
            **kwargs,
        )


OWN_MODELS: dict[str, type[Model]] = {"Dot": Dot, "RotatESum": RotatESum}
