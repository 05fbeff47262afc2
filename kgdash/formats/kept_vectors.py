"""Vectors that PyKEEN kept in a model's file, and scores by: compared with what its weights make.

Machines differ in the last bits of sums, so that numbers are compared to a part of themselves. What
tells entities apart may be less than that in a file that was made for it: a note says by what
kgdash scores.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen.nn.message_passing import Decomposition

from kgdash.errors import KgdashError
from kgdash.files.memory import memory_budget
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

    It takes what it takes to score by the model, of RGCN `memory_budget` at most: all entities'
    vectors once per relation, and a copy, for each layer.

    :param path: the model's file
    :raises KgdashError: if they are others, or that is too much
    """
    if not pickled.kept:
        return
    state = pickled.state
    edges = [t.shape[-1] for n, t in state.items() if n.endswith((".edge_type", ".edge_types"))]
    triples = np.zeros((max(edges, default=1), 3), dtype=np.int64)
    sizes = (pickled.num_entities, pickled.num_relations)
    rebuilt = build_model(pickled.spec, triples, *sizes, state, str(path))
    _check_size(rebuilt, path)
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


def _check_size(model: Any, path: Path) -> None:
    layers = [each for each in model.modules() if isinstance(each, Decomposition)]
    width = max((each.input_dim for each in layers), default=0)
    # Two layers have four, edges and their inverses; more of them take longer.
    bytes_ = 2 * width * model.num_entities * model.num_relations * max(4, len(layers))
    if bytes_ > memory_budget():
        raise KgdashError(
            f"{path}: to compare the vectors that PyKEEN kept with the weights takes {bytes_:,} "
            "bytes: set KGDASH_MEMORY to more, or call the model's post_parameter_update() and "
            "save it again"
        )


def _agree(found: torch.Tensor, own: torch.Tensor) -> bool:
    """Tell whether vectors are the same but for rounding, however large one of them is."""
    size = own.abs()
    usual = size.where(size > 0, torch.nan).nanmedian(dim=0).values.nan_to_num()
    same = found.shape == own.shape
    return same and bool(((found - own).abs() <= _SAME * (size + usual)).all())
