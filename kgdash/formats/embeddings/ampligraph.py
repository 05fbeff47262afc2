"""AmpliGraph 2: the folder that ``save_model`` wrote.

::

    NAME_metadata.ampkl              a pickle: entities_dict, relations_dict, number → name
    keras_metadata.pb                scoring_type; both also sizes
    variables/variables.index        where ent_emb and rel_emb are
    variables/variables.data-…       their numbers

Scores by ``latent_features/layers/scoring`` of version 2.2. Rows are as many as names, or more, of
which the last ones stand for nothing.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.files.text import parse_plain_json
from kgdash.formats.embeddings.embedding import Embedding, Source
from kgdash.formats.embeddings.matrices import check_said, single_precision
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.parts import Parts
from kgdash.formats.pickle_arrays import read_array_pickle
from kgdash.formats.proto_fields import Value, fields, message, once, whole
from kgdash.formats.tensor_bundle import Bundle

_EXPECTED = "expected what AmpliGraph 2 writes beside a model that was trained of data in memory"

#: model → numbers of a row for each of k
_MODELS = {"TransE": 1, "DistMult": 1, "ComplEx": 2, "HolE": 2, "RotatE": 2}

#: where names are
_BACKEND = "in_memory"

#: bytes of the configuration, and nodes
_MOST, _MOST_NODES = 2**24, 100_000


def read_ampligraph(folder: Path, options: Options) -> Embedding:
    """Read a model of AmpliGraph 2.

    :raises KgdashError: if files are missing or damaged, or the model has to be named
    """
    metadata = _only(folder, "*_metadata.ampkl")
    said = read_array_pickle(metadata, _EXPECTED)
    if not isinstance(said, dict):
        raise KgdashError(f"{metadata}: expected a dict; {_EXPECTED}")
    if said.get("is_partitioned_training"):
        raise KgdashError(f"{metadata}: partitioned training is not read; save vectors as arrays")
    if said.get("backend", _BACKEND) != _BACKEND:
        raise KgdashError(f"{metadata}: names in a database are not read; {_EXPECTED}")
    keras = folder / "keras_metadata.pb"
    described = _configuration(keras)
    model = described.get("scoring_type") or options.one_of([*_MODELS], folder)
    if not isinstance(model, str) or model not in _MODELS:
        raise KgdashError(f"{folder}: {model!r:.40} is not read; expected {', '.join(_MODELS)}")
    names = [_names(said, f"{kind}_dict", metadata) for kind in ("entities", "relations")]
    index = folder / "variables" / "variables.index"
    bundle = Bundle(index)
    graph = bundle.text("_CHECKPOINTABLE_OBJECT_GRAPH")
    keys = [_key(graph, kind, index) for kind in ("ent_emb", "rel_emb")]
    _check_alone(bundle, keys, index)
    vectors, rows = [], 0
    kinds = (("ent_emb", "max_ent_size"), ("rel_emb", "max_rel_size"))
    for (kind, size), own, key in zip(kinds, names, keys, strict=True):
        values = bundle.array(key)
        if values.ndim != 2 or len(values) < len(own):
            raise KgdashError(f"{index}: {kind}: {len(own):,} names, but shape {values.shape}")
        rows = len(values)
        for settings, where in ((said, metadata), (described, keras)):
            check_said(settings.get(size), rows, size, f"rows of {kind}", where)
            check_said(
                settings.get("k"), values.shape[1], "k", f"columns of {kind}", where, _MODELS[model]
            )
        vectors.append(single_precision(values[: len(own)], f"{index}, {kind}"))
    interaction, relations = model, vectors[1]
    width = relations.shape[1]
    if model == "RotatE":
        # Phases are in units of the bound that relations are drawn with; half are never used.
        bound = math.sqrt(6 / (max(1, width) * max(1, rows)))
        relations = (relations[:, : width // 2] * (math.pi / bound)).astype(np.float32)
    elif model == "HolE":
        interaction, relations = "ComplEx", relations * np.float32(4 / width)
    return Embedding(
        interaction,
        names[0],
        names[1],
        Parts(
            vectors[0],
            relations,
            norm=1 if model in ("TransE", "RotatE") else None,
            where=str(folder),
        ),
        Source(str(folder), f"{index}, ent_emb", f"{index}, rel_emb"),
    )


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise KgdashError(f"{folder}: expected one file {pattern}; found {names:.200}")
    return found[0]


def _key(graph: bytes, name: str, index: Path) -> str:
    """Return the key of a variable, by the checkpoint's graph of objects."""
    try:
        nodes = [list(fields(message(node))) for number, node in fields(graph) if number == 1]
        children = [once(message(c)) for node in nodes for kind, c in node if kind == 1]
        (place,) = {whole(each.get(1, 0)) for each in children if each.get(2) == name.encode()}
        (attribute,) = (message(each) for kind, each in nodes[place] if kind == 2)
        return message(once(attribute)[3]).decode()
    except (ValueError, LookupError) as error:
        raise KgdashError(f"{index} does not say where {name} is; {_EXPECTED}") from error


def _check_alone(bundle: Bundle, keys: list[str], index: Path) -> None:
    """Refuse arrays that TensorFlow may take for others: it finds them by many paths."""
    shapes = {key: shape for key, shape in bundle.shapes().items() if len(shape) > 1}
    other = next((key for key in shapes if key not in keys), None)
    if other is not None:
        raise KgdashError(f"{index}: {other:.80} is another array than ent_emb and rel_emb")
    if shapes.get(keys[0]) == shapes.get(keys[1]):
        raise KgdashError(
            f"{index}: ent_emb and rel_emb have the same shape, so that each may be taken for the "
            "other; save vectors as arrays"
        )


def _names(said: Mapping[str, Any], key: str, path: Path) -> tuple[str, ...]:
    """Return names in the order of their numbers."""
    names = said.get(key)
    if not isinstance(names, dict) or not names.keys() == set(range(len(names))):
        raise KgdashError(
            f"{path}: expected names by their numbers 0, 1, 2, … as {key}; {_EXPECTED}"
        )
    if not all(isinstance(name, str) for name in names.values()):
        raise KgdashError(f"{path}: expected text as names in {key}")
    # By these AmpliGraph finds rows.
    if said.get(f"reversed_{key}") not in (None, {name: row for row, name in names.items()}):
        raise KgdashError(f"{path}: {key} and reversed_{key} differ; save the model again")
    return tuple(names[number] for number in range(len(names)))


def _configuration(path: Path) -> dict[str, Any]:
    """Return Keras's description of the model, with what scores; empty if there is none."""
    if not path.is_file():
        return {}
    try:
        with open_regular(path, _MOST) as stream:
            content = stream.read()
        root = _root(content)
        found = parse_plain_json(message(root[5]))["config"]
        return {**found, "scoring_type": found["scoring_type"]}
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise KgdashError(f"{path} is damaged ({error!s:.80}); copy it again") from error


def _root(content: bytes) -> dict[int, Value]:
    """Return the node that describes the model: Keras finds nodes by number, the last of each."""
    places, root = set[Value](), dict[int, Value]()
    for number, node in fields(content):
        if number != 1:
            continue
        said = once(message(node))
        place, path = whole(said.get(2, 0)), message(said.get(3, b""))
        if not (0 <= place < _MOST_NODES and len(places) < 2 * _MOST_NODES):
            raise ValueError("more nodes than any model has")
        if places & {place, path} or (path == b"root") != (place == 0):
            raise ValueError("a node that stands twice, or by another number")
        places |= {place, path}
        root = root if place else said
    return root
