"""What recognisers of forms have in common: kinds of φ, shapes, sums in a fixed order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kgdash.engine.microkernels import L1, L2, L2_SQUARED
from kgdash.engine.turned_kernels import PRODUCT, SUM

#: a vector of each pair: (entity's representations, relation's representations) → (n, K)
Map = Callable[[list[torch.Tensor], list[torch.Tensor]], torch.Tensor]


@dataclass(frozen=True)
class Turning:
    """A map that the kernels know: one of the relation's vectors turns the entity's.

    ``kind``: see `kgdash.engine.turned_kernels`; ``relation``: the place of that vector.
    """

    kind: int
    relation: int = 0

    def __call__(self, e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        """Make the vectors of pairs."""
        own, by = e[0], r[self.relation]
        if self.kind == PRODUCT:
            return own * by
        return own + by if self.kind == SUM else times_complex(own, by)


@dataclass(frozen=True)
class Linear:
    """A map x M of the entity's vector x, whose matrix M needs no making from it.

    ``matrix``: of one relation's representations: ``(D, K)``.
    """

    made: Map
    matrix: Callable[[list[torch.Tensor]], torch.Tensor]

    def __call__(self, e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        """Make the vectors of pairs."""
        return self.made(e, r)


#: what `kgdash.scoring.pykeen_forms.PyKEENForm` is made of, or None if there is no form
Description = dict[str, Any] | None


def norm_kind(interaction: Any) -> int | None:
    """Return the kind of a norm-based interaction, or None if no kernel has it."""
    if interaction.p == 1:
        return L1
    if interaction.p == 2:
        return L2_SQUARED if interaction.power_norm else L2
    return None


def are_vectors(representations: list[torch.Tensor], count: int) -> bool:
    """Tell whether there are so many representations, all real vectors or all complex ones."""
    return len(representations) == count and all(r.ndim == 2 for r in representations)


def simple_form(
    kind: int | None,
    entities: list[torch.Tensor],
    relations: list[torch.Tensor],
    count: int,
    left: Map,
    right: Map | None = None,
) -> Description:
    """Describe a form over one vector per entity and ``count`` vectors per relation.

    :param kind: of φ; None if there is no kernel for it
    :param right: default: the entity's vector itself, whatever the relation
    :return: None if the representations are others
    """
    if kind is None or not (are_vectors(entities, 1) and are_vectors(relations, count)):
        return None
    return {
        "kind": kind,
        "dimension": entities[0].shape[1],
        "entities": entities,
        "relations": relations,
        "left": left,
        "right": right or (lambda e, r: e[0]),
        "right_fixed": right is None,
    }


def within(most: float, *weights: torch.Tensor) -> bool:
    """Tell whether all weights are finite and below a bound: of NaN none is."""
    return all(_is_within(most, w) for w in weights if w.numel())


def _is_within(most: float, weights: torch.Tensor) -> bool:
    if weights.is_complex():
        return bool(weights.abs().max() < most)
    low, high = torch.aminmax(weights)  # many: no copy of them is made
    return bool(low > -most) and bool(high < most)


def summed(values: torch.Tensor) -> torch.Tensor:
    """Sum over the last dimension, kept: ``(n, K)`` → ``(n, 1)``, in one order for any n."""
    total = values[:, :1].clone()
    for k in range(1, values.shape[1]):
        total += values[:, k : k + 1]
    return total


def times_complex(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Multiply complex vectors given as pairs.

    Spelled out, since PyTorch's complex product rounds differently at the end of an array.
    """
    a, b = a.unflatten(-1, (-1, 2)), b.unflatten(-1, (-1, 2))
    real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    imaginary = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return torch.stack([real, imaginary], dim=-1).flatten(-2)


def times_matrix(vectors: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """Multiply rows with a matrix each, ``(n, D)`` and ``(n, D, K)`` → ``(n, K)``.

    Spelled out: a matrix product rounds by how many rows there are.
    """
    total = vectors[:, :1] * matrices[:, 0]
    for k in range(1, vectors.shape[1]):
        total += vectors[:, k : k + 1] * matrices[:, k]
    return total
