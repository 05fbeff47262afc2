"""LibKGE's checkpoints by their published layout, with an object of its configuration's class."""

import sys
from collections import OrderedDict
from types import ModuleType

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.libkge import read_libkge
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

D = 4
RECIPROCAL = "reciprocal_relations_model"


class Config:
    """Stands for LibKGE's class, whose name the checkpoint holds."""

    def __init__(self, options):
        self.options, self.folder, self.log_prefix = options, "local/x", None


@pytest.fixture(autouse=True)
def kge(monkeypatch):
    module = ModuleType("kge.config")
    monkeypatch.setattr(Config, "__module__", "kge.config")
    module.Config = Config
    monkeypatch.setitem(sys.modules, "kge", ModuleType("kge"))
    monkeypatch.setitem(sys.modules, "kge.config", module)


def save(folder, options, e, r, packed=False):
    """Write a checkpoint as a training job does; ``packed`` as ``kge package`` does."""
    kinds = (("entity", e, ENTITIES), ("relation", r, RELATIONS))
    state = {f"_{k}_embedder._embeddings.weight": torch.from_numpy(v) for k, v, _ in kinds}
    optimizer = {"state": {0: {"step": 3, "sum": torch.ones(2)}}, "param_groups": [{"lr": 0.1}]}
    content = {
        "type": "train",
        "epoch": 3,
        "valid_trace": [{"mean_reciprocal_rank_filtered": 0.3}],
        "model": (state, {}),
        "optimizer_state_dict": optimizer,
        "config": Config(options),
        "dataset": {"num_entities": len(e), "num_relations": len(RELATIONS)},
    }
    if packed:
        content["dataset"]["meta"] = {f"{k}_ids": list(names) for k, _, names in kinds}
    else:
        for kind, _, names in kinds:
            rows = "".join(f"{number}\t{name}\n" for number, name in enumerate(names))
            (folder / f"{kind}_ids.del").write_text(rows)
    torch.save(content, folder / "checkpoint_best.pt")
    return folder / "checkpoint_best.pt"


def complex_score(h, r, t):
    h, r, t = (x[:, :D] + 1j * x[:, D:] for x in (h, r, t))
    return (h * r * t.conj()).sum(-1).real


def rows_of(e, r):
    h, relation, t = all_triples()[::5].T
    return by_id(e, ENTITY_IDS)[h], by_id(r, RELATION_IDS)[relation], by_id(e, ENTITY_IDS)[t]


CASES = {
    "complex": ({}, 2 * D, complex_score),
    "transe": ({"l_norm": 2.0}, D, lambda h, r, t: -np.linalg.norm(h + r - t, axis=-1)),
    "distmult": ({}, D, lambda h, r, t: (h * r * t).sum(-1)),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("model", CASES)
def test_scores_are_its_formulas(model, packed, tmp_path):
    own, width, formula = CASES[model]
    e, r = vectors(14, width, seed=1), vectors(55, width, seed=2)
    path = save(tmp_path, {"model": model, model: own}, e, r, packed)
    run = import_embedding(path, tmp_path / "out", "libkge", "nations", Options())
    found = run.scorer.score_triples(torch.from_numpy(all_triples()[::5].copy())).numpy()
    np.testing.assert_allclose(found, formula(*rows_of(e, r)), rtol=1e-4, atol=1e-4)


def test_names_that_a_packaged_model_holds_are_not_read_elsewhere(tmp_path):
    """The lists that were asked for were left out without a word."""
    e, r = vectors(14, D, seed=1), vectors(55, D, seed=2)
    path = save(tmp_path, {"model": "distmult", "distmult": {}}, e, r, packed=True)
    with pytest.raises(KgdashError, match="holds its names: leave out --names"):
        read_libkge(path, Options(names=tmp_path))


def test_reciprocal_relations_score_heads(tmp_path):
    e, r = vectors(14, 2 * D, seed=1), vectors(110, 2 * D, seed=2)
    options = {
        "model": "reciprocal_relations_model",
        "reciprocal_relations_model": {"base_model": {"type": "complex"}},
    }
    path = save(tmp_path, options, e, r)
    run = import_embedding(path, tmp_path / "out", "libkge", "nations", Options())
    triples = torch.from_numpy(all_triples()[::5].copy())
    h, forward, t = rows_of(e, r[:55])
    backward = rows_of(e, r[55:])[1]
    for side, expected in (
        ("tail", complex_score(h, forward, t)),
        ("head", complex_score(t, backward, h)),
    ):
        found = run.scorer.score_triples(triples, side).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "conve"}, "model 'conve' is not read; expected complex"),
        ({"model": [[1], [1]]}, "model list is not read; expected complex"),
        ({"model": "transe", "transe": {"l_norm": 3.0}}, "l_norm 3 is not read"),
        ({"model": "transe", "transe": {"l_norm": "x"}}, "l_norm 'x' is not read"),
        ({"model": "cp", "cp": {"class_name": "TransE"}}, "cp of class 'TransE' is not read"),
        (
            {"model": "cp", "lookup_embedder": {"class_name": "ProjectionEmbedder"}},
            "lookup_embedder of class 'ProjectionEmbedder' is not read",
        ),
        # LibKGE takes these for the same as nested ones, the last of them.
        ({"model": "cp", "cp.class_name": "ComplEx"}, "'cp.class_name': options that LibKGE does"),
        ({"model": "cp", "cp": {"a": {"b.c": 1}}}, "'b.c': options that LibKGE does not write so"),
        ({"model": RECIPROCAL, "inverse_relations_model": {}}, "'inverse_relations_model': opt"),
        ({"model": "cp", "cp": OrderedDict()}, "'cp': options that LibKGE does not write so"),
        (None, "holds no options of LibKGE's"),
    ],
)
def test_what_is_refused(options, message, tmp_path):
    path = save(tmp_path, options, vectors(14, D), vectors(55, D))
    with pytest.raises(KgdashError, match=message):
        read_libkge(path, Options())


WIDE = {"entity_embedder": {"dim": 400}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lookup_embedder": {"dim": 400}}, "dim of entity_embedder 400 tells of 400 columns; fo"),
        ({"lookup_embedder": {"dim": D}, "distmult": WIDE}, "dim of entity_embedder 400"),
        ({"distmult": {"relation_embedder": {"dim": 400}}}, "dim of relation_embedder 400"),
        (
            {"model": RECIPROCAL, RECIPROCAL: {"base_model": {"type": "distmult"} | WIDE}},
            "dim of entity_embedder 400",
        ),
        # What the embedder decides, or what is of a wrapper that there is not, says nothing.
        ({"lookup_embedder": {"dim": 400, "round_dim_to": [D]}}, None),
        ({"lookup_embedder": {"dim": D}, RECIPROCAL: {"base_model": WIDE}}, None),
        (
            {"lookup_embedder": {"dim": 400}, "distmult": {"relation_embedder": {"dim": -1}}},
            "entity",
        ),
    ],
)
def test_vectors_of_another_length_than_the_options_say_are_refused(options, message, tmp_path):
    path = save(tmp_path, {"model": "distmult"} | options, vectors(14, D), vectors(55, D))
    if message is None:
        assert read_libkge(path, Options()).interaction == "DistMult"
        return
    with pytest.raises(KgdashError, match=message):
        read_libkge(path, Options())


def test_options_of_a_search_have_dots(tmp_path):
    options = {"model": "distmult", "grid_search": {"parameters": {"train.batch_size": [1, 2]}}}
    found = read_libkge(save(tmp_path, options, vectors(14, D), vectors(55, D)), Options())
    assert found.interaction == "DistMult"


@pytest.mark.parametrize("size", ["num_entities", "num_relations"])
def test_another_number_of_rows_than_the_dataset_has_is_refused(size, tmp_path):
    path = save(tmp_path, {"model": "distmult"}, vectors(14, D), vectors(55, D))
    content = torch.load(path, weights_only=False)
    content["dataset"][size] = 400
    torch.save(content, path)
    with pytest.raises(KgdashError, match=f"{size} 400 tells of 400 rows; found"):
        read_libkge(path, Options())


def test_vectors_that_stand_there_twice_are_the_same(tmp_path):
    path = save(tmp_path, {"model": "distmult"}, vectors(14, D), vectors(55, D))
    content = torch.load(path, weights_only=False)
    state = content["model"][0]
    state["_base_model._entity_embedder._embeddings.weight"] = torch.zeros(14, D)
    torch.save(content, path)
    with pytest.raises(KgdashError, match="vectors of entity stand there twice, and differ"):
        read_libkge(path, Options())


def test_other_files_are_refused(tmp_path):
    torch.save([1], tmp_path / "x.pt")
    with pytest.raises(KgdashError, match="expected a checkpoint of LibKGE's"):
        read_libkge(tmp_path / "x.pt", Options())
    torch.save({"config": {"options": {"model": "cp"}}, "model": {}}, tmp_path / "x.pt")
    with pytest.raises(KgdashError, match="no vectors of a lookup embedder of entity"):
        read_libkge(tmp_path / "x.pt", Options())
