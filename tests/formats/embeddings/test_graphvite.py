"""GraphVite's pickles by its published layout, with the scores of its formulas."""

import io
import pickle
import sys
from datetime import date
from types import ModuleType

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.graphvite import read_graphvite
from kgdash.formats.embeddings.options import Options
from kgdash.runs.importing import import_embedding
from tests.support.embeddings import (
    ENTITIES,
    ENTITY_IDS,
    RELATION_IDS,
    RELATIONS,
    all_triples,
    by_id,
    vectors,
)

D = 8


class EasyDict(dict):
    """Stands for the class of that name, which keeps items as attributes too."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        super().__setitem__(name, value)

    __setitem__ = __setattr__


@pytest.fixture(autouse=True)
def easydict(monkeypatch):
    module = ModuleType("easydict")
    monkeypatch.setattr(EasyDict, "__module__", "easydict")
    module.EasyDict = EasyDict
    monkeypatch.setitem(sys.modules, "easydict", module)


def filled(**items):
    made = EasyDict()
    for name, value in items.items():
        setattr(made, name, value)
    return made


def content(settings=None, kind=np.float32):
    """Return what ``save_model`` puts together, its vectors and those of relations."""
    e, r = vectors(len(ENTITIES), D, seed=1), vectors(len(RELATIONS), D, seed=2)
    graph = filled(
        entity2id={name: number for number, name in enumerate(ENTITIES)},
        id2entity=list(ENTITIES),
        id2relation=list(RELATIONS),
        relation2id={name: number for number, name in enumerate(RELATIONS)},
    )
    solver = filled(entity_embeddings=e.astype(kind), relation_embeddings=r.astype(kind))
    if settings is not None:
        graph.num_edge, graph.num_vertex, graph.num_relation = 1592, 14, 55
        for name, value in settings.items():
            setattr(solver, name, value)
        solver.optimizer = filled(lr=1e-4, type="Adam", schedule="linear")
    return filled(graph=graph, solver=solver), e, r


def write(folder, saved, older=False, protocol=4):
    stream = io.BytesIO()
    pickle.dump(saved, stream, protocol)
    data = stream.getvalue()
    if older:  # NumPy's module before version 2
        data = data.replace(b"\x8c\x16numpy._core.multiarray", b"\x8c\x15numpy.core.multiarray")
    (folder / "model.pkl").write_bytes(data)
    return folder / "model.pkl"


def pairs(x):
    return x[:, ::2] + 1j * x[:, 1::2]


def simple(h, r, t):
    return (h[:, ::2] * r[:, ::2] * t[:, 1::2] + h[:, 1::2] * r[:, 1::2] * t[:, ::2]).sum(1)


def rotate(h, r, t):
    return -np.abs(pairs(h) * np.exp(1j * r[:, : D // 2]) - pairs(t)).sum(1)


#: the formulas less their margin
FORMULAS = {
    "TransE": lambda h, r, t: -np.abs(h + r - t).sum(1),
    "DistMult": lambda h, r, t: (h * r * t).sum(1),
    "ComplEx": lambda h, r, t: (pairs(h) * pairs(r) * pairs(t).conj()).sum(1).real,
    "SimplE": simple,
    "RotatE": rotate,
}


@pytest.mark.parametrize("said", [True, False], ids=["settings", "interaction"])
@pytest.mark.parametrize("model", FORMULAS)
def test_scores_are_its_formulas(model, said, tmp_path):
    settings = {"model": model, "margin": 12.0, "num_epoch": 2000, "resume": False}
    saved, e, r = content(settings if said else None)
    path = write(tmp_path, saved, older=said)
    options = Options(None if said else model.lower())
    run = import_embedding(path, tmp_path / "out", "graphvite", "nations", options)
    triples = all_triples()[::5]
    h, relation, t = triples.T
    vectors_of = (by_id(e, ENTITY_IDS)[h], by_id(r, RELATION_IDS)[relation])
    wanted = FORMULAS[model](*vectors_of, by_id(e, ENTITY_IDS)[t])
    found = run.scorer.score_triples(torch.from_numpy(triples.copy())).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_floats_of_other_widths(kind, tmp_path):
    saved, e, _ = content(kind=kind)
    found = read_graphvite(write(tmp_path, saved), Options("DistMult"))
    np.testing.assert_allclose(found.parts.entities, e, atol=1e-3)
    assert (found.entity_names, found.relation_names) == (ENTITIES, RELATIONS)


def test_a_transposed_array(tmp_path):
    saved, e, _ = content()
    saved.solver.entity_embeddings = np.asfortranarray(e)
    found = read_graphvite(write(tmp_path, saved), Options("DistMult"))
    np.testing.assert_array_equal(found.parts.entities, e)


def with_solver(**items):
    saved, _, _ = content()
    for name, value in items.items():
        setattr(saved.solver, name, value)
    return saved


def with_graph(**items):
    saved, _, _ = content({"model": "DistMult"})
    for name, value in items.items():
        setattr(saved.graph, name, value)
    return saved


REFUSED = {
    "to be named": (content()[0], "give --interaction, one of TransE, DistMult, ComplEx, SimplE"),
    "QuatE": (with_solver(model="QuatE"), "'QuatE' is not read; expected one of TransE"),
    "no name of a model": (with_solver(model=[1]), "is not read; expected one of TransE"),
    "of nodes": (
        filled(graph=filled(name2id={"a": 0}, id2name=["a"]), solver=filled()),
        "holds no graph of entities and relations; expected what save_model of a Knowledge",
    ),
    "a list": ([1, 2], "holds no graph of entities and relations"),
    "no array": (
        with_solver(model="TransE", entity_embeddings=[1.5]),
        "entity_embeddings: expected an array; found list",
    ),
    "whole numbers": (
        with_solver(model="TransE", entity_embeddings=np.ones((14, D), int)),
        "expected floats of 16 to 64 bits",
    ),
    "most first": (
        with_solver(model="TransE", entity_embeddings=np.ones((14, D), ">f4")),
        "expected floats of 16 to 64 bits",
    ),
    "an odd length": (
        with_solver(model="TransE", entity_embeddings=np.ones((14, 3))),
        r"expected rows of an even length; found shape \(14, 3\)",
    ),
    "one axis": (
        with_solver(model="TransE", entity_embeddings=np.ones(8)),
        r"expected rows of an even length; found shape \(8,\)",
    ),
    "objects": (
        with_solver(model="TransE", entity_embeddings=np.array([{}], object)),
        "refused: .*|expected an array|expected floats",
    ),
    "names that are none": (
        with_graph(id2entity=[1, 2]),
        "expected a list of names as id2entity",
    ),
    "a number of entities": (
        with_graph(num_vertex=15),
        "num_vertex 15 tells of 15 entities; f.*14",
    ),
    "a number of relations": (with_graph(num_relation=1), "num_relation 1 tells of 1 relations; "),
    "names in another order": (
        with_graph(id2entity=list(ENTITIES[::-1])),
        "entity2id and id2entity differ; save the model again",
    ),
    "a date": (with_graph(when=date(2020, 1, 1)), r"refused: datetime.date; expected what save_m"),
    "a set": (with_graph(ids={"a"}), "refused: a set"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    saved, message = REFUSED[name]
    with pytest.raises(KgdashError, match=message):
        read_graphvite(write(tmp_path, saved), Options())
