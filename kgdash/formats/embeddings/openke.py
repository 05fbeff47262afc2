"""OpenKE, its PyTorch branch: what ``save_checkpoint`` wrote.

Names are in ``entity2id.txt`` and ``relation2id.txt``. The file does not say what it is of: what
its tensors leave open, the user tells. Scores by ``predict`` of each model, turned so that higher
is more plausible.
"""

import math
from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.interactions import unit_rows
from kgdash.formats.embeddings.numbered_names import find_list, read_numbered
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.embeddings.torch_states import read_state

_ONE_VECTOR = ("TransE", "DistMult", "HolE")
_COMPLEX = tuple(
    f"{kind}_{part}_embeddings.weight" for kind in ("ent", "rel") for part in ("re", "im")
)
_ENTITIES, _RELATIONS = "ent_embeddings.weight", "rel_embeddings.weight"

#: what is told of a RESCAL
_RESCAL = (
    "OpenKE's RESCAL predicts lowest first, and so does kgdash: trained with its MarginLoss, as in "
    "its example, true triples have the highest, so that its own test and every figure here are "
    "of ranks the wrong way round; a test MRR near 0 tells"
)

#: single numbers of its modules → what they always are, of those that its code sets
_CONSTANTS = {
    "zero_const": 0.0,
    "pi_const": math.pi,
    "margin": None,
    "embedding_range": None,
    "ent_embedding_range": None,
    "rel_embedding_range": None,
}


def read_openke(path: Path, options: Options) -> Embedding:
    """Read a checkpoint of OpenKE's.

    :raises KgdashError: if the model is not one that is read, or has to be named
    """
    state = read_state(path)
    _check_constants(state, path)
    interaction, entities, relations, notes = _model(state, options, path)
    norm = None
    if interaction == "TransE":
        norm = options.told_norm() or 1  # its default
        if options.unit is not False:
            entities, relations = (unit_rows(v, str(path)) for v in (entities, relations))
            notes += ("vectors were scaled to length 1, as norm_flag does; --no-unit does not",)
    elif interaction == "RotatE":
        norm = 1
    place = options.names or path.parent
    lists = [find_list(place, (f"{kind}2id.txt",)) for kind in ("entity", "relation")]
    return Embedding(
        interaction,
        read_numbered(lists[0], openke=True),
        read_numbered(lists[1], openke=True),
        Parts(entities, relations, norm=norm, where=str(path)),
        Source(str(path), f"{path}, entities", f"{path}, relations"),
        notes=notes,
    )


def _check_constants(state: dict[str, np.ndarray], path: Path) -> None:
    """Refuse numbers by which OpenKE would score otherwise than what is read."""
    for name in _CONSTANTS.keys() & state.keys():
        found, always = state[name], _CONSTANTS[name]
        if found.size != 1 or np.iscomplexobj(found):
            raise KgdashError(f"{path}: expected one number as {name}; found shape {found.shape}")
        if always is not None and found.item() != np.float32(always):
            raise KgdashError(f"{path}: expected {name} {always:.6g}; found {found.item():.6g}")


def _model(
    state: dict[str, np.ndarray], options: Options, path: Path
) -> tuple[str, np.ndarray, np.ndarray, tuple[str, ...]]:
    names = set(state)
    weights = names - _CONSTANTS.keys()
    if set(_COMPLEX) == weights:  # Analogy has these, and more
        parts = [state[name] for name in _COMPLEX]
        fit = parts[0].shape == parts[1].shape and parts[2].shape == parts[3].shape
        if fit and all(part.ndim == 2 for part in parts):
            both = [np.concatenate(parts[k : k + 2], axis=-1) for k in (0, 2)]
            return "ComplEx", both[0], both[1], ()
    if weights == {_ENTITIES, "rel_matrices.weight"}:
        # Its predict gives ⟨h, R t⟩ and takes the lowest for the best.
        return "RESCAL", state[_ENTITIES], -state["rel_matrices.weight"], (_RESCAL,)
    other = weights - {_ENTITIES, _RELATIONS}
    if {_ENTITIES, _RELATIONS} <= names:
        entities, relations = state[_ENTITIES], state[_RELATIONS]
        if other == {"rel_inv_embeddings.weight"}:
            note = "OpenKE's SimplE predicts by h, r and t alone: it was taken as DistMult"
            return "DistMult", entities, relations, (note,)
        if not other and "rel_embedding_range" in names:
            span = state["rel_embedding_range"].item()
            if not 0 < span < math.inf:
                raise KgdashError(f"{path}: expected a rel_embedding_range above 0; found {span}")
            return "RotatE", entities, (relations * (math.pi / span)).astype(np.float32), ()
        if not other:
            return options.one_of(_ONE_VECTOR, path), entities, relations, ()
    raise KgdashError(
        f"{path}: no model of OpenKE's that is read (TransE, DistMult, HolE, ComplEx, RESCAL, "
        f"SimplE, RotatE); it holds {', '.join(sorted(names))[:200] or 'no tensors'}"
    )
