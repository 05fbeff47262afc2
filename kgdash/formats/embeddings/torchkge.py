"""TorchKGE: ``torch.save(model.state_dict(), path)`` of one of its models.

The file does not say what it is of: what its tensors leave open, the interaction and the norm, the
user tells. Names are lists as of plain arrays, ``entities.txt`` and ``relations.txt``, in the order
of ``kg.ent2ix`` and ``kg.rel2ix``. Scores by ``scoring_function`` of version 0.17.
"""

from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.interactions import unit_rows
from kgdash.formats.embeddings.name_lists import read_names
from kgdash.formats.embeddings.numbered_names import find_list
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.embeddings.torch_states import missing_names, read_state

#: whose vectors of entities are scaled to length 1 before they score
_ONE_VECTOR = ("TransE", "DistMult", "HolE")

_COMPLEX = ("re_ent_emb.weight", "im_ent_emb.weight", "re_rel_emb.weight", "im_rel_emb.weight")
_ENTITIES, _RELATIONS = "ent_emb.weight", "rel_emb.weight"

#: what is said of entities whose vectors have other lengths than 1, and by how much they may
_NORMALIZED, _BY = (
    (
        "vectors of entities were scaled to length 1, as TorchKGE's scoring_function does; its "
        "LinkPredictionEvaluator takes them as they are, so that its figures are others: save the "
        "state after normalize_parameters() to have the same"
    ),
    1e-3,
)

#: a tensor of TransH's that is made of its others
_MADE = "projected_entities"


def read_torchkge(path: Path, options: Options) -> Embedding:
    """Read a state of TorchKGE's.

    :raises KgdashError: if the model is not one that is read, or has to be named
    """
    state = read_state(path)
    interaction, entities, relations = _model(state, options, path)
    norm = options.told_norm()
    if interaction == "TransH":
        norm = 2
    elif interaction == "TransE" and norm is None:
        norm = 2  # its default
    squared = interaction in ("TransE", "TransH") and norm == 2
    place = options.names or path.parent
    lists = [find_list(place, (f"{kind}.txt",)) for kind in ("entities", "relations")]
    return Embedding(
        interaction,
        read_names(lists[0], entities, path),
        read_names(lists[1], relations, path),
        Parts(entities, relations, norm=norm, squared=squared, where=str(path)),
        Source(str(path), f"{path}, entities", f"{path}, relations"),
        notes=(_NORMALIZED,) if _is_scaled(state.get(_ENTITIES)) else (),
    )


def _is_scaled(entities: np.ndarray | None) -> bool:
    """Tell whether vectors that are scaled before they score were of another length."""
    if entities is None:
        return False
    return bool((np.abs(np.linalg.norm(entities, axis=-1) - 1) > _BY).any())


def _model(
    state: dict[str, np.ndarray], options: Options, path: Path
) -> tuple[str, np.ndarray, np.ndarray]:
    names = set(state)
    if names == set(_COMPLEX):
        re_e, im_e, re_r, im_r = (state[name] for name in _COMPLEX)
        return "ComplEx", _beside(re_e, im_e, path), _beside(re_r, im_r, path)
    if names == {_ENTITIES, "rel_mat.weight"}:
        return "RESCAL", unit_rows(state[_ENTITIES], str(path)), state["rel_mat.weight"]
    if names - {_MADE} == {_ENTITIES, _RELATIONS, "norm_vect.weight"}:
        both = _beside(state[_RELATIONS], state["norm_vect.weight"], path)
        return "TransH", unit_rows(state[_ENTITIES], str(path)), both
    if names == {_ENTITIES, _RELATIONS}:
        interaction = options.one_of(_ONE_VECTOR, path)
        return interaction, unit_rows(state[_ENTITIES], str(path)), state[_RELATIONS]
    missing = missing_names(state, (_ENTITIES, _RELATIONS))
    raise KgdashError(
        f"{path}: no model of TorchKGE's that is read (TransE, TransH, DistMult, HolE, RESCAL, "
        f"ComplEx); it holds {', '.join(sorted(names))[:200] or 'no tensors'}"
        + (f" and lacks {', '.join(missing)}" if missing else "")
    )


def _beside(first: np.ndarray, second: np.ndarray, path: Path) -> np.ndarray:
    if first.shape != second.shape or first.ndim != 2:
        raise KgdashError(
            f"{path}: expected two matrices of one shape; found {first.shape} and {second.shape}"
        )
    return np.concatenate([first, second], axis=1)
