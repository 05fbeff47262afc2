"""DGL-KE: ``config.json`` and two NumPy files, with the lists of names that it was trained on.

::

    config.json                      model_name, hidden_dim, double_ent, double_rel, gamma, lists
    DATASET_MODEL_entity.npy         a row per entity
    DATASET_MODEL_relation.npy       likewise
    entities.tsv | entities.dict     number and name, in the folder of the data (--names)
    relations.tsv | relations.dict   of other names if config.json says so: emp_file, rmap_file

Scores by ``dglke/models/pytorch/score_fun.py`` of version 0.1.2. Its margin γ is the same for all
candidates and left out.
"""

import math
import os
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.json_values import read_object
from kgdash.formats.embeddings.matrices import check_said, read_matrix
from kgdash.formats.embeddings.numbered_names import find_list, read_numbered
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.run_record import is_number

_CONFIG = "config.json"

#: DGL-KE's model → interaction and norm
_MODELS: dict[str, tuple[str, int | None]] = {
    "TransE": ("TransE", 2),
    "TransE_l1": ("TransE", 1),
    "TransE_l2": ("TransE", 2),
    "DistMult": ("DistMult", None),
    "ComplEx": ("ComplEx", None),
    "RotatE": ("RotatE", 1),
    "SimplE": ("SimplE", None),
    "RESCAL": ("RESCAL", None),
}

#: where DGL-KE scores otherwise than here
_DIFFERS = {
    "SimplE": "DGL-KE cuts SimplE's scores at ±20; here they are not, so fewer tie",
    "RESCAL": (
        "DGL-KE ranks RESCAL's tails by t·(R h), with the relation the other way round; here, as "
        "in dglke_predict, all is scored by h·(R t), so that its MRR of tails is another"
    ),
}

#: of Freebase's data: how many names there are stands first
_COUNTED = ("entity2id.txt", "relation2id.txt")

#: what DGL-KE adds to γ to bound the vectors that it draws: phases are in units of that bound
_EPSILON = 2.0


def read_dglke(folder: Path, options: Options) -> Embedding:
    """Read what ``dglke_train`` saved.

    :raises KgdashError: if a file is missing or damaged, or the model is not one that is read
    """
    config = read_object(folder / _CONFIG, "DGL-KE writes it beside the vectors")
    model = config.get("model_name")
    if not isinstance(model, str) or model not in _MODELS:
        raise KgdashError(
            f"{folder / _CONFIG}: model {model!r:.40} is not read; expected one of "
            f"{', '.join(_MODELS)}"
        )
    interaction, norm = _MODELS[model]
    entity_file, relation_file = (_only(folder, kind, model) for kind in ("entity", "relation"))
    entities, relations = read_matrix(entity_file), read_matrix(relation_file)
    notes = [_DIFFERS[interaction]] if interaction in _DIFFERS else []
    unit = _phase_unit(config, folder) if interaction == "RotatE" else None
    _check_columns(config, interaction, entities, relations, folder / _CONFIG)
    if unit is not None:
        relations = (relations * unit).astype(np.float32)
    names = [
        read_numbered(path, openke=path.name in _COUNTED)
        for key, kind in (("emp_file", "entities"), ("rmap_file", "relations"))
        for path in [_list(config.get(key), kind, folder, options.names or folder)]
    ]
    return Embedding(
        interaction,
        names[0],
        names[1],
        Parts(entities, relations, norm=norm, where=str(folder)),
        Source(str(folder), str(entity_file), str(relation_file)),
        notes=tuple(notes),
    )


def _only(folder: Path, kind: str, model: str) -> Path:
    found = sorted(folder.glob(f"*_{kind}.npy"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise KgdashError(f"{folder}: expected one file *_{kind}.npy; found {names:.200}")
    stem = "_" + found[0].name.removesuffix(f"_{kind}.npy")
    for other in (*_MODELS, "TransR"):
        if stem.endswith(f"_{other}") and other != model:
            raise KgdashError(
                f"{folder / _CONFIG}: the model is {model}, and {found[0].name} is of {other}; "
                "take the config.json that was written with the vectors"
            )
    return found[0]


def _list(said: object, kind: str, folder: Path, place: Path) -> Path:
    """Return the list that config.json names where it is at hand, else the one of a usual name.

    :param said: a name or, of which the folder counts for nothing, a path
    :param place: where lists are looked for
    """
    name = PureWindowsPath(said).name if isinstance(said, str) else ""
    if name and os.path.isfile(place / name):
        return place / name
    if name and os.path.isfile(folder / name):
        raise KgdashError(
            f"{folder / _CONFIG} names {name:.80} as the list of {kind}, which is in {folder}, and "
            f"not in {place}; put it there"
        )
    return find_list(place, (f"{kind}.tsv", f"{kind}.dict"))


def _check_columns(
    config: dict[str, Any],
    interaction: str,
    entities: np.ndarray,
    relations: np.ndarray,
    path: Path,
) -> None:
    """Refuse vectors of another length than the settings say."""
    # RotatE's entities alone are complex, whatever else is said: DGL-KE can not score others.
    twice = [1 + (config.get(f"double_{kind}") is True) for kind in ("ent", "rel")]
    of_entity, of_relation = (2, 1) if interaction == "RotatE" else twice
    if interaction == "RESCAL":
        of_relation *= math.prod(entities.shape[1:])
    for kind, values, times in (
        ("entities", entities, of_entity),
        ("relations", relations, of_relation),
    ):
        columns = math.prod(values.shape[1:])
        check_said(
            config.get("hidden_dim"), columns, "hidden_dim", f"columns of {kind}", path, times
        )


def _phase_unit(config: dict[str, Any], folder: Path) -> float:
    gamma, width = config.get("gamma"), config.get("hidden_dim")
    if not is_number(gamma) or not is_number(width) or gamma + _EPSILON <= 0 or width <= 0:
        raise KgdashError(
            f"{folder / _CONFIG}: RotatE's phases need numbers gamma and hidden_dim; found "
            f"{gamma!r:.40} and {width!r:.40}"
        )
    return math.pi / ((gamma + _EPSILON) / width)
