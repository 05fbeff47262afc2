"""The plain form: a matrix and a list of names for entities and for relations, in one folder.

::

    entities.npy | .safetensors | .parquet     a row per entity
    entities.txt                               a name a line, in the order of the rows
    relations.npy | … , relations.txt          likewise; not needed for dot and cosine
    core.npy | …                               of TuckER: entity, relation, entity
"""

from pathlib import Path

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.interactions import INTERACTIONS, unit_rows
from kgdash.formats.embeddings.matrices import ENDINGS, check_same_order, find_matrix, read_matrix
from kgdash.formats.embeddings.name_lists import read_names
from kgdash.formats.embeddings.options import Options, interaction_and_norm
from kgdash.formats.embeddings.parts import Parts

#: interactions of entities alone
_WITHOUT_RELATIONS = ("dot", "cosine")


def read_arrays(folder: Path, options: Options) -> Embedding:
    """Read the plain form.

    :raises KgdashError: if no interaction is given, a file is missing, damaged or too large, or a
        list of names does not fit its matrix
    """
    if options.interaction is None:
        raise KgdashError(
            f"arrays do not say how they are scored: give --interaction, one of "
            f"{', '.join(INTERACTIONS)}"
        )
    interaction, norm = interaction_and_norm(options.interaction, options.norm)
    if not folder.is_dir():
        raise KgdashError(f"There is no folder {folder}.")
    entities, entity_names, entity_file = _matrix(folder, "entities", options)
    relations: np.ndarray | None = None
    relation_names: tuple[str, ...] = ()
    relation_file = "relations"
    if interaction not in _WITHOUT_RELATIONS:
        relations, relation_names, relation_file = _matrix(folder, "relations", options)
        check_same_order(Path(entity_file), Path(relation_file))
    if options.unit:
        entities = unit_rows(entities, entity_file)
    core = find_matrix(folder, "core") if interaction == "TuckER" else None
    return Embedding(
        interaction=interaction,
        entity_names=entity_names,
        relation_names=relation_names,
        parts=Parts(
            entities,
            relations,
            None if core is None else read_matrix(core),
            options.layout,
            norm,
            where=str(folder),
        ),
        source=Source(str(folder), entity_file, relation_file),
    )


def _matrix(folder: Path, stem: str, options: Options) -> tuple[np.ndarray, tuple[str, ...], str]:
    path, names_file = find_matrix(folder, stem), (options.names or folder) / f"{stem}.txt"
    if path is None:
        present = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        wanted = " or ".join(stem + ending for ending in ENDINGS)
        raise KgdashError(f"no {stem} in {folder}: expected {wanted}; found {present:.200}")
    values = read_matrix(path)
    return values, read_names(names_file, values, path), str(path)
