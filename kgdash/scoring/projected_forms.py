"""Forms of PyKEEN's translations whose entities are projected first."""

from typing import Any

import torch

from kgdash.scoring.form_parts import (
    Description,
    norm_kind,
    simple_form,
    summed,
    times_matrix,
    within,
)

#: below which PyKEEN takes no length
_EPSILON = torch.finfo(torch.float32).eps

#: of normal vectors, and of matrices: squares of what they make of weights stay finite
_LARGEST_NORMAL, _LARGEST_MATRIX = 1e2, 1e4


def transh(interaction: Any, entities: list, relations: list) -> Description:
    """Describe TransH: onto a hyperplane by its normal vector, then moved."""

    if not within(_LARGEST_NORMAL, *relations[:1]):
        return None

    def onto(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        return e[0] - summed(e[0] * r[0]) * r[0]

    return simple_form(
        norm_kind(interaction), entities, relations, 2, lambda e, r: onto(e, r) + r[1], onto
    )


def transr(interaction: Any, entities: list, relations: list) -> Description:
    """Describe TransR: by a matrix of the relation, cut to a length, then moved."""
    if len(relations) != 2 or relations[1].ndim != 3 or norm_kind(interaction) is None:
        return None
    if not within(_LARGEST_MATRIX, relations[1]):
        return None
    shape, most, p = relations[1].shape[1:], interaction.max_projection_norm, interaction.p

    def onto(e: list[torch.Tensor], r: list[torch.Tensor]) -> torch.Tensor:
        made = times_matrix(e[0], r[1].unflatten(1, shape))
        length = summed(made.abs()) if p == 1 else summed(made * made).sqrt()
        return torch.where(length < most, made, made / length.clamp_min(_EPSILON) * most)

    found = simple_form(
        norm_kind(interaction),
        entities,
        [relations[0], relations[1].flatten(1)],
        2,
        lambda e, r: onto(e, r) + r[0],
        onto,
    )
    return None if found is None else found | {"dimension": shape[1], "linear": False}
