"""Readers of other libraries' embeddings."""

import io
import json
import pickle
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy
import torch

from kgdash.formats.embeddings.ampligraph import read_ampligraph
from kgdash.formats.embeddings.arrays import read_arrays
from kgdash.formats.embeddings.dglke import read_dglke
from kgdash.formats.embeddings.embedding import fit_to
from kgdash.formats.embeddings.graphvite import read_graphvite
from kgdash.formats.embeddings.libkge import read_libkge
from kgdash.formats.embeddings.matrices import read_matrix
from kgdash.formats.embeddings.openke import read_openke
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.pbg import read_pbg
from kgdash.formats.embeddings.torchkge import read_torchkge
from kgdash.formats.embeddings.word2vec import read_word2vec
from kgdash.runs.reported import read_reported
from tests.fuzz.mutation.containers import pack, unpack
from tests.fuzz.reader import Reader
from tests.fuzz.readers.graphs import GRAPH, lines
from tests.support.paths import ROOT

_E, _R = (
    np.arange(n * 4, dtype=np.float32).reshape(n, 4) / 7
    for n in (GRAPH.num_entities, GRAPH.num_relations)
)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _parquet() -> list[bytes]:
    found = []
    columns = {str(k): _E[:, k] for k in range(4)}
    for table in (columns, {"v": [row.tolist() for row in _E]}):
        stream = io.BytesIO()
        pq.write_table(pa.table(table), stream)
        found.append(stream.getvalue())
    return found


def _saved(**tensors: np.ndarray) -> bytes:
    stream = io.BytesIO()
    torch.save({name: torch.from_numpy(value) for name, value in tensors.items()}, stream)
    return pack(unpack(stream.getvalue()))


def _names(names: tuple[str, ...]) -> bytes:
    return lines([(name,) for name in names])


def _arrays() -> list[bytes]:
    lists = {"entities.txt": _names(GRAPH.entities), "relations.txt": _names(GRAPH.relations)}
    return [pack({"entities.npy": _npy(_E), "relations.npy": _npy(_R), **lists})]


def _numbered(names: tuple[str, ...]) -> bytes:
    return lines([(str(number), name) for number, name in enumerate(names)])


def _dglke() -> list[bytes]:
    config = {"model_name": "RotatE", "dataset": "d", "gamma": 12.0, "hidden_dim": 2}
    return [
        pack(
            {
                "config.json": json.dumps(config).encode(),
                "d_RotatE_entity.npy": _npy(_E),
                "d_RotatE_relation.npy": _npy(_R[:, :2]),
                "entities.tsv": _numbered(GRAPH.entities),
                "relations.tsv": _numbered(GRAPH.relations),
            }
        )
    ]


def _torchkge() -> list[bytes]:
    lists = {"entities.txt": _names(GRAPH.entities), "relations.txt": _names(GRAPH.relations)}
    parts = {f"{part}_ent_emb.weight": _E for part in ("re", "im")}
    parts |= {f"{part}_rel_emb.weight": _R for part in ("re", "im")}
    pair = {"ent_emb.weight": _E, "rel_emb.weight": _R}
    return [pack({"state.pt": _saved(**state), **lists}) for state in (parts, pair)]


def _openke() -> list[bytes]:
    ids = {
        f"{kind}2id.txt": f"{len(names)}\n".encode() + _numbered(names)
        for kind, names in (("entity", GRAPH.entities), ("relation", GRAPH.relations))
    }
    pair = {"ent_embeddings.weight": _E, "rel_embeddings.weight": _R}
    return [pack({"state.pt": _saved(**pair), **ids})]


def _libkge() -> list[bytes]:
    weights = {"_entity_embedder._embeddings": _E, "_relation_embedder._embeddings": _R}
    state = {f"{name}.weight": torch.from_numpy(value) for name, value in weights.items()}
    meta = {"entity_ids": list(GRAPH.entities), "relation_ids": list(GRAPH.relations)}
    config = {"options": {"model": "transe", "transe": {"l_norm": 2.0}}}
    stream = io.BytesIO()
    torch.save({"model": (state, {}), "config": config, "dataset": {"meta": meta}}, stream)
    return [pack({"state.pt": pack(unpack(stream.getvalue()))})]


def _hdf5(bound: str, **arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w", libver=(bound, "latest")) as file:
        file.create_group("model", track_order=True)
        for name, values in arrays.items():
            file[name] = values
    return stream.getvalue()


def _pbg() -> list[bytes]:
    config = {
        "entities": {"all": {"num_partitions": 1}},
        "relations": [{"name": "all", "operator": "translation"}],
        "comparator": "l2",
        "global_emb": False,
        "dynamic_relations": True,
    }
    files = {
        "config.json": json.dumps(config).encode(),
        "checkpoint_version.txt": b"1\n",
        "entity_names_all_0.json": json.dumps(GRAPH.entities).encode(),
        "dynamic_rel_names.json": json.dumps(GRAPH.relations).encode(),
    }
    operators = {f"model/relations/0/operator/{s}/translations": _R for s in ("lhs", "rhs")}
    return [
        pack(
            files
            | {
                "embeddings_all_0.v1.h5": _hdf5(bound, embeddings=_E),
                "model.v1.h5": _hdf5(bound, **operators),
            }
        )
        for bound in ("earliest", "latest")
    ]


def _graphvite() -> list[bytes]:
    names = {"id2entity": list(GRAPH.entities), "id2relation": list(GRAPH.relations)}
    numbers = {"entity2id": {name: number for number, name in enumerate(GRAPH.entities)}}
    solver = {"entity_embeddings": _E, "relation_embeddings": _R, "margin": 12.0}
    content = {"graph": names | numbers, "solver": solver | {"model": "RotatE"}}
    return [pickle.dumps(content, protocol) for protocol in (4, 5)]


def _ampligraph() -> list[bytes]:
    folder = ROOT / "tests" / "formats" / "embeddings" / "written" / "ampligraph-RotatE"
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    said = {
        "entities_dict": dict(enumerate(GRAPH.entities)),
        "relations_dict": dict(enumerate(GRAPH.relations)),
    }
    return [pack(files), pack(files | {"RotatE_metadata.ampkl": pickle.dumps(said, 4)})]


def _words() -> list[bytes]:
    rows = [[name, *map(str, row)] for name, row in zip(GRAPH.entities, _E, strict=True)]
    return ["\n".join([f"{len(rows)} 4", *map(" ".join, rows), ""]).encode()]


def _fit(read, name: str, interaction: str):
    def run(path: Path) -> None:
        fit_to(read(path / name if name else path, Options(interaction)), GRAPH)

    return run


READERS = (
    Reader("matrices-npy", lambda: [_npy(_E), _npy(_E.T)], read_matrix, "case.npy"),
    Reader("matrices-parquet", _parquet, read_matrix, "case.parquet"),
    Reader(
        "matrices-safetensors",
        lambda: [safetensors.numpy.save({"a": _E})],
        read_matrix,
        "case.safetensors",
    ),
    Reader("vectors", _arrays, _fit(read_arrays, "", "DistMult"), "case.folder"),
    Reader("dglke", _dglke, _fit(read_dglke, "", "RotatE"), "case.folder"),
    Reader("torchkge", _torchkge, _fit(read_torchkge, "state.pt", "TransE"), "case.folder"),
    Reader("openke", _openke, _fit(read_openke, "state.pt", "TransE"), "case.folder"),
    Reader("libkge", _libkge, _fit(read_libkge, "state.pt", "TransE"), "case.folder"),
    Reader("pbg", _pbg, _fit(read_pbg, "", "TransE"), "case.folder"),
    Reader("graphvite", _graphvite, _fit(read_graphvite, "", "TransE"), "case.pkl"),
    Reader("ampligraph", _ampligraph, _fit(read_ampligraph, "", "TransE"), "case.folder"),
    Reader("word2vec", _words, _fit(read_word2vec, "", "cosine"), "case.txt"),
    Reader(
        "reported",
        lambda: [b'{"mrr": 0.5, "hits@10": 0.75, "loss": [1]}'],
        lambda path: read_reported([str(path)]),
        "case.json",
    ),
)
