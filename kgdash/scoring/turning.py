"""RotatE by L2 as PyKEEN scores it: where relations turn and do no more, it is one function."""

from typing import Any

import torch
from pykeen.nn.modules import RotatEInteraction

from kgdash.errors import KgdashError

#: by how much moduli may differ from 1: rounding to half precision moves them by less
_TOLERANCE = 1e-3


def check_turning(model: Any, where: str) -> None:
    """Refuse a RotatE of PyKEEN's whose relations stretch what they turn.

    PyKEEN turns heads, or tails back, whichever is less to do: rows and single triples would have
    scores of two functions.

    :param where: named in messages, e.g. the path of the run
    :raises KgdashError: if moduli differ from 1
    """
    if not isinstance(getattr(model, "interaction", None), RotatEInteraction):
        return
    with torch.inference_mode():
        moduli = [_moduli(each(None)) for each in model.relation_representations]
    low = min(float(each.min()) for each in moduli)
    high = max(float(each.max()) for each in moduli)
    if not 1 - _TOLERANCE <= low <= high <= 1 + _TOLERANCE:
        raise KgdashError(
            f"{where}: RotatE takes relations of modulus 1 where the norm is L2; found moduli from "
            f"{low:.4g} to {high:.4g}, by which triples would score otherwise than in rows of "
            'tails. Train it with the relation_constrainer "complex_normalize", PyKEEN\'s default'
        )


def _moduli(vectors: torch.Tensor) -> torch.Tensor:
    """Return the moduli of complex numbers, which may stand as pairs of reals."""
    if vectors.is_complex():
        return vectors.abs()
    if vectors.shape[-1] % 2:  # PyKEEN refuses to score by them
        return vectors.new_ones(1)
    return vectors.unflatten(-1, (-1, 2)).norm(dim=-1)
