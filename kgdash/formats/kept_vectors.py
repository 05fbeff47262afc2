"""Vectors that PyKEEN kept in a model's file, and scores by: compared with what its weights make.

Machines differ in the last bits of sums, so that numbers are compared to a part of themselves. What
tells entities apart may be less than that in a file that was made for it: a note says by what
kgdash scores.
"""

from pathlib import Path

import numpy as np
import torch

from kgdash.errors import KgdashError
from kgdash.formats.pykeen_model_file import PickledModel, several
from kgdash.formats.torch_archive import damage_refused
from kgdash.scoring.build_model import build_model

#: by which part of a number, and of its column's median, it may be another
_SAME = 1e-3

#: what is told of a model that has such vectors
NOTE = (
    "the file holds vectors that PyKEEN kept, and scores by until the model is trained on; kgdash "
    f"scores by the weights, which make the same to {_SAME} of each number: ranks may differ where "
    "all entities' numbers are nearly the same"
)


def check_kept(pickled: PickledModel, path: Path) -> None:
    """Refuse vectors that PyKEEN kept, and scores by, if they are not about what the weights make.

    It takes what it takes to score by the model, which `build_model` bounds.

    :param path: the model's file
    :raises KgdashError: if they are others, or as `build_model`
    """
    if not pickled.kept:
        return
    state = pickled.state
    edges = [t.shape[-1] for n, t in state.items() if n.endswith((".edge_type", ".edge_types"))]
    triples = np.zeros((max(edges, default=1), 3), dtype=np.int64)
    sizes = (pickled.num_entities, pickled.num_relations)
    rebuilt = build_model(pickled.spec, triples, *sizes, state, str(path))
    with damage_refused(path), torch.no_grad():
        for part in (*rebuilt.entity_representations, *rebuilt.relation_representations):
            part(None)
    for (module, name), found in pickled.kept.items():
        made = several(getattr(rebuilt.get_submodule(module), name, None))
        if len(made) != len(found) or not all(map(_agree, found, made)):
            raise KgdashError(
                f"{path}: PyKEEN scores by {module}.{name}, which is not what the weights make; "
                "call the model's post_parameter_update() and save it again"
            )


def _agree(found: torch.Tensor, own: torch.Tensor) -> bool:
    """Tell whether vectors are the same but for rounding, however large one of them is."""
    size = own.abs()
    usual = size.where(size > 0, torch.nan).nanmedian(dim=0).values.nan_to_num()
    same = found.shape == own.shape
    return same and bool(((found - own).abs() <= _SAME * (size + usual)).all())
