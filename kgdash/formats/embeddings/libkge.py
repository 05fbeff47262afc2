"""LibKGE: a checkpoint (``.pt``) of a training job, or a packaged model.

Its configuration is an object of LibKGE's, of which the options alone are read. Names are in the
checkpoint if it was packaged, else in the dataset's ``entity_ids.del`` and ``relation_ids.del``.
Scores by ``kge/model``; of reciprocal relations, heads are scored by the second half.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.matrices import check_said
from kgdash.formats.embeddings.numbered_names import find_list, read_numbered
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.embeddings.torch_states import read_archive, tensors
from kgdash.formats.pickle_records import Call, brief
from kgdash.formats.pickled_modules import mapping
from kgdash.formats.run_record import is_number

_EXPECTED = "a checkpoint of LibKGE's, such as checkpoint_best.pt"

#: LibKGE's model → interaction
_MODELS = {
    "complex": "ComplEx",
    "cp": "CP",
    "distmult": "DistMult",
    "rescal": "RESCAL",
    "rotate": "RotatE",
    "simple": "SimplE",
    "transe": "TransE",
}
_RECIPROCAL, _OLDER = "reciprocal_relations_model", "inverse_relations_model"

#: sections of options that say what a model is, and the classes that they name
_CLASSES = {_RECIPROCAL: "ReciprocalRelationsModel", "lookup_embedder": "LookupEmbedder"}
_SECTIONS = {"model", _OLDER, *_MODELS, *_CLASSES}


def read_libkge(path: Path, options: Options) -> Embedding:
    """Read a checkpoint of LibKGE's.

    :raises KgdashError: if the file holds something else, or the model is not one that is read
    """
    root, storages = read_archive(path, _EXPECTED)
    checkpoint = _items(root, path)
    settings = _options(checkpoint.get("config"), path)
    model, reciprocal, norm = _configured(settings, path)
    saved = checkpoint.get("model")
    state = _items(saved[0] if isinstance(saved, tuple) and saved else saved, path)
    found = tensors(state, storages, str(path))
    entities, relations = (_weights(found, kind, path) for kind in ("entity", "relation"))
    for kind, values in (("entity", entities), ("relation", relations)):
        width = _width(settings, [_RECIPROCAL, "base_model"] * reciprocal, model, kind)
        columns = math.prod(values.shape[1:])
        check_said(width, columns, f"dim of {kind}_embedder", "columns", path)
    inverse = None
    if reciprocal:
        if relations.ndim != 2 or len(relations) % 2:
            raise KgdashError(f"{path}: expected a vector and its reciprocal for each relation")
        relations, inverse = np.split(relations, 2)
    said = mapping(checkpoint.get("dataset")) or {}
    for size, values in (("num_entities", entities), ("num_relations", relations)):
        check_said(said.get(size), len(values) if values.ndim else 0, size, "rows", path)
    names = [_row_names(checkpoint, kind, path, options) for kind in ("entity", "relation")]
    if norm is not None and norm not in (1, 2):
        raise KgdashError(f"{path}: l_norm {norm!r:.40} is not read; expected 1 or 2")
    return Embedding(
        _MODELS[model],
        names[0],
        names[1],
        Parts(entities, relations, norm=norm, where=str(path)),
        Source(str(path), f"{path}, entities", f"{path}, relations"),
        inverse,
    )


def _items(record: object, path: Path) -> Mapping[str | int, Any]:
    found = mapping(record)
    if found is None:
        raise KgdashError(f"{path}: expected {_EXPECTED}; found something else")
    return found


def _options(config: object, path: Path) -> Mapping[str | int, Any]:
    state = config.state if isinstance(config, Call) else config
    options = mapping(state.get("options")) if isinstance(state, dict) else None
    if options is None:
        raise KgdashError(f"{path} holds no options of LibKGE's; expected {_EXPECTED}")
    _check_names(options, path)
    return options


def _check_names(options: Mapping[Any, Any], path: Path) -> None:
    """Refuse options by other names than LibKGE writes, which it takes for the same."""
    read = {key: each for key, each in options.items() if str(key).partition(".")[0] in _SECTIONS}
    pending, seen = [read], set[int]()
    while pending:
        section = pending.pop()
        seen.add(id(section))
        for key, value in section.items():
            if not isinstance(key, str) or "." in key or key == _OLDER or isinstance(value, Call):
                raise KgdashError(f"{path}: {brief(key)}: options that LibKGE does not write so")
            if isinstance(value, dict) and id(value) not in seen:
                pending.append(value)


def _configured(options: Mapping[str | int, Any], path: Path) -> tuple[str, bool, int | None]:
    """Return model, whether relations are reciprocal, and norm."""
    model, own = options.get("model"), None
    reciprocal = model == _RECIPROCAL
    if reciprocal:
        own = _inside(options, _RECIPROCAL, "base_model")
        model = own.get("type")
    if not isinstance(model, str) or model not in _MODELS:
        raise KgdashError(
            f"{path}: model {brief(model)} is not read; expected {', '.join(_MODELS)}, or "
            f"{_RECIPROCAL} of one"
        )
    general = _inside(options, model)
    for section, usual in {model: model, **_CLASSES}.items():
        named = _inside(options, section).get("class_name", usual)
        if not isinstance(named, str) or named.lower() != usual.lower():
            raise KgdashError(f"{path}: {section} of class {brief(named)} is not read")
    if model not in ("transe", "rotate"):
        return model, reciprocal, None
    norm = (own or {}).get("l_norm", general.get("l_norm", 1))
    if not isinstance(norm, int | float) or norm != norm // 1:
        raise KgdashError(f"{path}: l_norm {norm!r:.40} is not read; expected 1 or 2")
    return model, reciprocal, int(norm)


def _inside(options: Mapping[str | int, Any], *keys: str) -> Mapping[str | int, Any]:
    for key in keys:
        options = mapping(options.get(key)) or {}
    return options


def _width(options: Mapping[str | int, Any], wrapper: list[str], model: str, kind: str) -> object:
    """Return the columns that the options of an embedder say; None where these are left to it."""
    places = ([*wrapper, f"{kind}_embedder"], [model, f"{kind}_embedder"], ["lookup_embedder"])
    said = [_inside(options, *place) for place in places]
    width = next((own["dim"] for own in said if "dim" in own), None)
    rounded = next((own["round_dim_to"] for own in said if "round_dim_to" in own), None)
    return None if rounded or (is_number(width) and width < 0) else width


def _weights(found: Mapping[str, np.ndarray], kind: str, path: Path) -> np.ndarray:
    names = (
        f"{wrapper}_{kind}_embedder.{name}.weight"
        for wrapper in ("", "_base_model.")
        for name in ("_embeddings", "embeddings")
    )
    several = [found[name] for name in names if name in found]
    if any(not np.array_equal(several[0], each) for each in several):
        raise KgdashError(f"{path}: vectors of {kind} stand there twice, and differ")
    if several:
        return several[0]
    raise KgdashError(
        f"{path}: no vectors of a lookup embedder of {kind}; it holds "
        f"{', '.join(sorted(found))[:200] or 'no tensors'}"
    )


def _row_names(
    checkpoint: Mapping[str | int, Any], kind: str, path: Path, options: Options
) -> tuple[str, ...]:
    meta = mapping((mapping(checkpoint.get("dataset")) or {}).get("meta")) or {}
    packed = meta.get(f"{kind}_ids")
    if isinstance(packed, list) and all(isinstance(name, str) for name in packed):
        if options.names:
            raise KgdashError(f"{path} holds its names: leave out --names")
        return tuple(packed)
    return read_numbered(find_list(options.names or path.parent, (f"{kind}_ids.del",)), first=True)
