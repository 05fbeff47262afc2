"""Our own form of a run on disk: JSON and safetensors, nothing that could run.

::

    run.json              format, model configuration, training record, graph's name, when it was
                          written, SHA-256 of the other files
    weights.safetensors   the tensors that scoring needs; those in half precision are read as single
    graph.json            name, entities, relations, their labels
    triples.safetensors   train, valid, test: ids of head, relation, tail, shape (n, 3)
"""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch
from safetensors import SafetensorError

from kgdash.errors import KgdashError
from kgdash.files.atomic import draft_folder, publish, share, sweep_drafts
from kgdash.files.others import others_may_make
from kgdash.files.regular import file_digest, open_regular
from kgdash.files.text import parse_plain_json
from kgdash.formats.run_record import check_record
from kgdash.formats.tensor_file import open_tensors, read_tensors
from kgdash.graph import SPLITS, KnowledgeGraph
from kgdash.graph.arrow_texts import compact, text_blocks
from kgdash.graph.kept_graph import keep_graph, kept_graph
from kgdash.graph.known_triples import holds_twice
from kgdash.scoring.model_spec import ModelSpec, OwnWeights

FORMAT = "kgdash-run"
VERSION = 1
MANIFEST = "run.json"
WEIGHTS = "weights.safetensors"
GRAPH = "graph.json"
TRIPLES = "triples.safetensors"

#: of triples
_WHOLE = {getattr(torch, f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)}

#: bytes at which files are refused unread
_MOST = {MANIFEST: 2**26, GRAPH: 2**30, WEIGHTS: 2**36, TRIPLES: 2**36}


def write_run(
    out: Path,
    graph: KnowledgeGraph,
    spec: ModelSpec,
    state: Mapping[str, torch.Tensor],
    training: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> Path:
    """Write a run; the directory appears whole or not at all.

    :param out: must not exist yet
    :param graph: what the model was trained on
    :param state: its weights
    :param training: JSON-ready record of the training
    :param provenance: JSON-ready record of where the run comes from
    :return: ``out``
    :raises KgdashError: if ``out`` exists or can not be written
    """
    check_free(out)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "model": spec.to_json(),
        "training": dict(training),
        "provenance": dict(provenance),
        "graph": graph.name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        with draft_folder(out) as draft:
            _write_graph(draft, graph)
            safetensors.torch.save_file(_apart(state), draft / WEIGHTS)
            sums = {name: file_digest(draft / name) for name in (WEIGHTS, GRAPH, TRIPLES)}
            _write_json(draft / MANIFEST, about | {"sha256": sums})
            for path in (*draft.iterdir(), draft):
                share(path)
            publish(draft, out)
        keep_graph(_source(sums), graph)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KgdashError(f"can not write {out}: {reason}") from error
    return out


def check_free(out: Path) -> None:
    """Refuse to write over anything that exists; drafts of dead writers beside it go even so.

    :raises KgdashError: if ``out`` exists, if only as a link that leads nowhere
    """
    if os.path.lexists(out):
        sweep_drafts(out.parent)
        raise KgdashError(f"{out} exists already; remove it or choose another output directory")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and check ``run.json`` alone: cheap, no weights.

    :raises KgdashError: if it is missing, malformed, or of another format or version
    """
    manifest = _read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise KgdashError(
            f"{folder / MANIFEST}: expected format {FORMAT} version {VERSION}; found "
            f"{manifest.get('format')!r} version {manifest.get('version')!r}"
        )
    for key in ("model", "training", "provenance", "sha256"):
        if not isinstance(manifest.get(key), dict):
            raise KgdashError(f"{folder / MANIFEST}: expected an object under {key!r}; found none")
    check_record(manifest["training"], str(folder / MANIFEST))
    return manifest


def read_run(
    folder: Path,
) -> tuple[KnowledgeGraph, ModelSpec, dict[str, torch.Tensor], dict[str, Any]]:
    """Read a directory that `write_run` wrote.

    :return: graph, model configuration, weights (mapped from their file, where nobody else may
        change that), manifest
    :raises KgdashError: if a file is missing, does not have the checksum that ``run.json`` gives,
        or is malformed
    """
    # Asked before anything is opened: what others may change can be one's own a moment later.
    changing = {name for name in (GRAPH, TRIPLES, WEIGHTS) if others_may_make(folder / name)}
    manifest = read_manifest(folder)
    # Of gigabytes each takes seconds, on a core of its own.
    with ThreadPoolExecutor(1) as pool:
        summed = pool.submit(_check_sum, folder / WEIGHTS, manifest["sha256"].get(WEIGHTS))
        for name in (GRAPH, TRIPLES):
            _check_sum(folder / name, manifest["sha256"].get(name))
        spec = ModelSpec.from_json(manifest["model"], str(folder / MANIFEST))
        # What somebody may change meanwhile is known by what was read, not by what was summed.
        source, read = _source(manifest["sha256"]), partial(_read_graph, folder)
        graph = read() if changing - {WEIGHTS} else kept_graph(source, read)
        summed.result()
    state = read_tensors(folder / WEIGHTS, _MOST[WEIGHTS])
    if WEIGHTS in changing:
        state = {name: tensor.clone() for name, tensor in state.items()}
    return graph, spec, OwnWeights(single_precision(state)), manifest


def count_rows(folder: Path) -> int:
    """Count the triples of all splits as the file says, before any is read.

    :raises KgdashError: if the file can not be read
    """
    with open_tensors(folder / TRIPLES, _MOST[TRIPLES]) as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    return sum(shape[0] for shape in shapes if shape)


def single_precision(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return weights with those in half precision widened, which changes no value."""
    half = (torch.float16, torch.bfloat16)
    return {name: t.float() if t.dtype in half else t for name, t in state.items()}


def _write_graph(folder: Path, graph: KnowledgeGraph) -> None:
    names = {
        "name": graph.name,
        "entities": graph.entities,
        "relations": graph.relations,
        "entity_labels": _labels(graph.entity_labels, graph.entities),
        "relation_labels": _labels(graph.relation_labels, graph.relations),
        "left_out": dict(graph.left_out),
    }
    _write_names(folder / GRAPH, names)
    largest = max(graph.num_entities, graph.num_relations) - 1
    dtype = next(t for t in (np.uint8, np.uint16, np.int32) if largest <= np.iinfo(t).max)
    triples = {s: np.ascontiguousarray(graph.splits[s].astype(dtype)) for s in SPLITS}
    safetensors.numpy.save_file(triples, folder / TRIPLES)


def _apart(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return weights row by row, none sharing numbers with another, as safetensors wants them."""
    found, seen = {}, set[int]()
    for name, tensor in state.items():
        place = tensor.untyped_storage().data_ptr()
        found[name] = (tensor.clone() if place in seen else tensor).contiguous()
        seen.add(place)
    return found


def _source(sums: Mapping[str, str]) -> str:
    """Tell apart graphs by the sums of their files."""
    return f"{sums[GRAPH]} {sums[TRIPLES]}"


def _labels(labels: Sequence[str], names: Sequence[str]) -> Sequence[str] | None:
    return labels if labels != names else None


def _read_graph(folder: Path) -> KnowledgeGraph:
    where, names = folder / GRAPH, _read_json(folder / GRAPH)
    splits = read_tensors(folder / TRIPLES, _MOST[TRIPLES], SPLITS)
    entities = _strings(names, "entities", where)
    relations = _strings(names, "relations", where)
    limits = len(entities), len(relations), len(entities)
    arrays = {}
    for split in SPLITS:
        ids = splits.get(split)
        if ids is None or ids.ndim != 2 or ids.shape[1] != 3 or ids.dtype not in _WHOLE:
            raise KgdashError(
                f"{folder / TRIPLES}: expected whole numbers {split} of shape (n, 3); copy the run "
                "again"
            )
        rows = ids.numpy()
        if len(rows) and ((rows.min(axis=0) < 0) | (rows.max(axis=0) >= limits)).any():
            raise KgdashError(f"{folder / TRIPLES}: {split} holds ids that {where} does not name")
        # Before they are widened: millions of the same pack to nothing.
        if holds_twice(rows, len(entities), len(relations)):
            raise KgdashError(
                f"{folder / TRIPLES}: {split} holds a triple twice; write the run again, each once"
            )
        arrays[split] = rows.astype(np.int64)
    if not any(map(len, arrays.values())):
        raise KgdashError(f"{folder / TRIPLES} holds no triple in any split; copy the run again")
    left_out = names.get("left_out")
    counts = left_out if isinstance(left_out, dict) else {}
    return KnowledgeGraph(
        name=str(names.get("name")),
        entities=entities,
        relations=relations,
        splits=arrays,
        entity_labels=_strings(names, "entity_labels", where, entities),
        relation_labels=_strings(names, "relation_labels", where, relations),
        left_out={s: n for s in SPLITS if type(n := counts.get(s)) is int and 0 < n < 2**53},
    )


def _strings(
    names: Mapping[str, Any], key: str, where: Path, default: Sequence[str] | None = None
) -> Sequence[str]:
    values = names.get(key)
    if values is None and default is not None:
        return default
    if not isinstance(values, list) or set(map(type, values)) != {str}:
        raise KgdashError(f"{where}: expected a list of names under {key!r}")
    if default is not None and len(values) != len(default):
        raise KgdashError(f"{where}: expected {len(default)} {key}; found {len(values)}")
    if default is None and len(set(values)) != len(values):
        raise KgdashError(f"{where}: the {key} are not distinct")
    return compact(values)


def _write_names(path: Path, value: Mapping[str, Any]) -> None:
    """Write what `_write_json` does, of long lists some names at a time."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",\n  ", ": ")).encode
    with path.open("w", encoding="utf-8") as file:
        for number, (key, part) in enumerate(value.items()):
            file.write(f'{"," if number else "{"}\n "{key}": ')
            if isinstance(part, str | None | dict) or not len(part):
                file.write(encode(part if isinstance(part, str | None | dict) else []))
                continue
            for block, some in enumerate(text_blocks(part)):
                file.write((",\n  " if block else "[\n  ") + encode([*some])[1:-1])
            file.write("\n ]")
        file.write("\n}\n")


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path, _MOST[path.name]) as stream:
            value = parse_plain_json(stream.read())
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise KgdashError(f"{path} is not valid JSON: {error}; copy the run again") from error
    if not isinstance(value, dict):
        raise KgdashError(f"{path}: expected a JSON object; found {type(value).__name__}")
    return value


def _check_sum(path: Path, expected: object) -> None:
    try:
        found = file_digest(path, _MOST[path.name])
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}") from error
    if found != expected:
        raise KgdashError(
            f"{path} is damaged or was changed: run.json gives SHA-256 {str(expected)[:16]}…, the "
            f"file has {found[:16]}…; copy the run again"
        )
