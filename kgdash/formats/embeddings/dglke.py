"""DGL-KE: ``config.json`` and two NumPy files, with the lists of names that it was trained on.

::

    config.json                      model_name, dataset, hidden_dim, gamma
    DATASET_MODEL_entity.npy         a row per entity
    DATASET_MODEL_relation.npy       likewise
    entities.tsv | entities.dict     number and name, in the folder of the data (--names)
    relations.tsv | relations.dict

Scores by ``dglke/models/pytorch/score_fun.py`` of version 0.1.2. Its margin γ is the same for all
candidates and left out.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.json_values import read_object
from kgdash.formats.embeddings.matrices import read_matrix
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
    entity_file, relation_file = (_only(folder, kind) for kind in ("entity", "relation"))
    entities, relations = read_matrix(entity_file), read_matrix(relation_file)
    notes = []
    if interaction == "RotatE":
        unit = _phase_unit(config, relations.shape[1], folder)
        relations = (relations * unit).astype(np.float32)
    if interaction == "SimplE":
        notes.append("DGL-KE cuts SimplE's scores at ±20; here they are not, so fewer tie")
    place = options.names or folder
    lists = [
        find_list(place, (f"{kind}.tsv", f"{kind}.dict")) for kind in ("entities", "relations")
    ]
    return Embedding(
        interaction,
        read_numbered(lists[0]),
        read_numbered(lists[1]),
        Parts(entities, relations, norm=norm, where=str(folder)),
        Source(str(folder), str(entity_file), str(relation_file)),
        notes=tuple(notes),
    )


def _only(folder: Path, kind: str) -> Path:
    found = sorted(folder.glob(f"*_{kind}.npy"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise KgdashError(f"{folder}: expected one file *_{kind}.npy; found {names:.200}")
    return found[0]


def _phase_unit(config: dict[str, Any], columns: int, folder: Path) -> float:
    gamma, width = config.get("gamma"), config.get("hidden_dim")
    if not is_number(gamma) or not is_number(width) or gamma + _EPSILON <= 0 or width <= 0:
        raise KgdashError(
            f"{folder / _CONFIG}: RotatE's phases need numbers gamma and hidden_dim; found "
            f"{gamma!r:.40} and {width!r:.40}"
        )
    if width != columns:
        raise KgdashError(
            f"{folder / _CONFIG}: hidden_dim is {width!r:.40}, and RotatE's relations have "
            f"{columns} columns: it is the config of other vectors"
        )
    return math.pi / ((gamma + _EPSILON) / width)
