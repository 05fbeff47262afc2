"""Forms of PyKEEN's bilinear models whose queries are more than a product of two vectors."""

from typing import Any

import torch

from kgdash.engine.microkernels import DOT
from kgdash.engine.turned_kernels import PRODUCT
from kgdash.files.visitor import visitor
from kgdash.scoring.form_parts import (
    Description,
    Linear,
    Map,
    Turning,
    are_vectors,
    simple_form,
    summed,
    times_matrix,
    within,
)

#: floats that all relations' matrices together may be, and up to which they may be more than the
#: weights, as for 1,600 relations of 200 dimensions: they are held, and made from as large a copy
_MOST_MATRICES, _FREE_MATRICES = 2**28, 2**26

#: likewise of what a server opens for its visitors, and up to how many times as many as the
#: weights, which a file may pack a hundredfold: PyKEEN's TuckER of FB15k-237 has 19 million
_FREE_SERVED, _DENSEST_SERVED = 5 * 2**22, 1

#: numbers of a vector up to which HolE's products are summed one by one: time grows with the square
_WIDEST_CIRCLE = 2**12

#: numbers of vectors that are convolved at once: they stay at hand
_ROLLED = 2**16

#: of factors beside those that are checked for every model: their products stay finite
_LARGEST_FACTOR = 1e4


def simple(interaction: Any, entities: list, relations: list) -> Description:
    """Describe SimplE as PyKEEN has it: the mean of two DistMult scores."""
    if not (are_vectors(entities, 2) and are_vectors(relations, 2)):
        return None
    both, half = torch.cat(entities, dim=1), torch.cat(relations, dim=1) / 2
    return simple_form(DOT, [both], [half], 1, Turning(PRODUCT))


def clamped(interaction: Any, entities: list, relations: list) -> Description:
    """Describe the interaction inside a clamp that does not clamp."""
    inside = _UNCLAMPED.get(type(interaction.base).__name__)
    if interaction.clamp_score is not None or inside is None:
        return None
    return inside(interaction.base, entities, relations)


_UNCLAMPED = {"SimplEInteraction": simple}


def cp(_i: Any, entities: list, relations: list) -> Description:
    """Describe CP: ⟨h, r, t⟩ of an entity's vectors as head and as tail."""
    if len(entities) != 2 or len(relations) != 1:
        return None
    head, tail, relation = (x.flatten(1) for x in (*entities, *relations))
    if not head.shape[1] == tail.shape[1] == relation.shape[1]:
        return None
    width = head.shape[1]
    return {
        "kind": DOT,
        "dimension": width,
        "entities": [torch.cat([head, tail], dim=1)],
        "relations": [relation],
        "left": lambda e, r: e[0][:, :width] * r[0],
        "right": lambda e, r: e[0][:, width:],
        "right_fixed": True,
    }


def distma(_i: Any, entities: list, relations: list) -> Description:
    """Describe DistMA: ⟨h, r⟩ + ⟨r, t⟩ + ⟨h, t⟩, by a dimension in which every tail is 1."""
    if not (are_vectors(entities, 1) and are_vectors(relations, 1)):
        return None
    ones = entities[0].new_ones((len(entities[0]), 1))
    width = entities[0].shape[1]

    def left(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        own = e[0][:, :width]
        return torch.cat([own + r[0], summed(own * r[0])], dim=1)

    return {
        "kind": DOT,
        "dimension": width + 1,
        "entities": [torch.cat([entities[0], ones], dim=1)],
        "relations": relations,
        "left": left,
        "right": lambda e, r: e[0],
        "right_fixed": True,
        "linear": False,  # the 1 is no weight
    }


def quate(interaction: Any, entities: list, relations: list) -> Description:
    """Describe QuatE: the inner product of the Hamilton product of h and r with t."""
    if any(len(x) != 1 or x[0].ndim != 3 for x in (entities, relations)):
        return None
    # PyKEEN's table holds the sign of each of the products, and turns the sum's sign.
    terms = [
        (i, j, k, -float(sign))
        for i, rows in enumerate(interaction.table.tolist())
        for j, row in enumerate(rows)
        for k, sign in enumerate(row)
        if sign
    ]

    def left(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        h, q = e[0].unflatten(1, (-1, 4)), r[0].unflatten(1, (-1, 4))
        parts = [torch.zeros_like(h[..., 0]) for _ in range(4)]
        for i, j, k, sign in terms:
            parts[k] = parts[k] + sign * h[..., i] * q[..., j]
        return torch.stack(parts, dim=-1).flatten(1)

    return simple_form(DOT, [entities[0].flatten(1)], [relations[0].flatten(1)], 1, left)


def hole(_i: Any, entities: list, relations: list) -> Description:
    """Describe HolE: ⟨r, h ⋆ t⟩ is ⟨h ∗ r, t⟩, a circular convolution."""
    if any(x.is_complex() for x in (*entities, *relations)):
        return None
    if any(x.shape[-1] > _WIDEST_CIRCLE for x in entities):
        return None

    def left(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        step = max(1, _ROLLED // e[0].shape[1])
        parts = zip(e[0].split(step), r[0].split(step), strict=True)
        return torch.cat([_convolved(*part) for part in parts])

    return simple_form(DOT, entities, relations, 1, Linear(left, lambda r: _circulant(r[0])))


def _convolved(own: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """Convolve rows with rows, summed in one order: ``(n, D)``, twice → ``(n, D)``."""
    width, twice = own.shape[1], torch.cat([by, by], dim=1)
    total = own[:, :1] * by
    for k in range(1, width):
        total += own[:, k : k + 1] * twice[:, width - k : 2 * width - k]
    return total


def _circulant(by: torch.Tensor) -> torch.Tensor:
    """Return the matrix of the convolution with a vector, whose row k is rolled by k."""
    return torch.cat([by, by]).unfold(0, len(by), 1)[1:].flip(0)


def rescal(_i: Any, entities: list, relations: list) -> Description:
    """Describe RESCAL: ⟨hᵀ R, t⟩."""
    if len(relations) != 1 or relations[0].ndim != 3:
        return None
    return _by_matrices(entities, relations[0])


def tucker(interaction: Any, entities: list, relations: list) -> Description:
    """Describe TuckER: RESCAL's form, by matrices that the core makes of the relations."""
    if not (are_vectors(entities, 1) and are_vectors(relations, 1)):
        return None
    core = interaction.core_tensor.detach()
    weights = sum(w.numel() for w in (core, *entities, *relations))
    free = _FREE_MATRICES
    if not visitor().is_local:
        free = min(free, max(_FREE_SERVED, _DENSEST_SERVED * weights))
    most = min(_MOST_MATRICES, max(free, weights))
    if len(relations[0]) * core.shape[0] * core.shape[2] > most:
        return None
    matrices = torch.einsum("ijk,rj->rik", core, relations[0])
    norms = [
        _affine(n) for n in (interaction.head_batch_norm, interaction.head_relation_batch_norm)
    ]
    if not all(within(_LARGEST_FACTOR, *norm) for norm in norms if norm is not None):
        return None
    return _by_matrices(entities, matrices, *norms)


def _affine(norm: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return factor and summand of a batch norm in evaluation mode; None if there is none."""
    if norm is None:
        return None
    factor = norm.weight.detach() / torch.sqrt(norm.running_var + norm.eps)
    return factor, norm.bias.detach() - norm.running_mean * factor


def _by_matrices(
    entities: list[torch.Tensor],
    matrices: torch.Tensor,
    before: tuple[torch.Tensor, torch.Tensor] | None = None,
    after: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> Description:
    shape = matrices.shape[1:]

    def left(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        own = e[0] if before is None else e[0] * before[0] + before[1]
        made = times_matrix(own, r[0].unflatten(1, shape))
        return made if after is None else made * after[0] + after[1]

    use: Map = left
    if before is None and after is None:
        use = Linear(left, lambda r: r[0].unflatten(0, shape))
    return simple_form(DOT, entities, [matrices.flatten(1)], 1, use)


def crosse(interaction: Any, entities: list, relations: list) -> Description:
    """Describe CrossE: ⟨f(b + c ∘ h + c ∘ h ∘ r), t⟩ with an activation f."""
    bias = interaction.bias.detach()
    if not within(_LARGEST_FACTOR, bias):
        return None

    def left(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        crossed = r[1] * e[0]
        return interaction.activation(bias + crossed + crossed * r[0])

    found = simple_form(DOT, entities, relations, 2, left)
    return None if found is None else found | {"linear": False}
