"""DGL-KE's files by its published layout, with the scores of its formulas."""

import json

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.dglke import read_dglke
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

D, GAMMA = 4, 12.0


def rotate(h, r, t):
    phases = r / ((GAMMA + 2.0) / D / np.pi)
    difference = (h[:, :D] + 1j * h[:, D:]) * np.exp(1j * phases) - (t[:, :D] + 1j * t[:, D:])
    return -np.abs(difference).sum(-1)


def simple(h, r, t):
    forward = h[:, :D] * r[:, :D] * t[:, D:]
    return (forward + t[:, :D] * r[:, D:] * h[:, D:]).sum(-1) / 2


#: columns of entities, of relations, the formula less its margin
MODELS = {
    "TransE_l1": (D, D, lambda h, r, t: -np.abs(h + r - t).sum(-1)),
    "TransE_l2": (D, D, lambda h, r, t: -np.linalg.norm(h + r - t, axis=-1)),
    "DistMult": (D, D, lambda h, r, t: (h * r * t).sum(-1)),
    "RotatE": (2 * D, D, rotate),
    "SimplE": (2 * D, 2 * D, simple),
    "RESCAL": (D, D * D, lambda h, r, t: np.einsum("ni,nij,nj->n", h, r.reshape(-1, D, D), t)),
}


def settings(model, **more):
    """Return what config.json says: all options of the training, and the lists by their names."""
    flags = {
        "double_ent": model in ("RotatE", "SimplE"),
        "double_rel": model == "SimplE",
    }
    lists = {"emp_file": "entities.tsv", "rmap_file": "relations.tsv"}
    known = {"model_name": model, "dataset": "nations", "hidden_dim": D, "gamma": GAMMA}
    return json.dumps(known | flags | lists | more)


def configured(model="RotatE", **more):
    return lambda folder: (folder / "config.json").write_text(settings(model, **more))


def write(folder, model, first="number"):
    width, other, _ = MODELS[model]
    e, r = vectors(14, width, seed=1), vectors(55, other, seed=2)
    np.save(folder / f"nations_{model}_entity.npy", e)
    np.save(folder / f"nations_{model}_relation.npy", r)
    (folder / "config.json").write_text(settings(model))
    for kind, names in (("entities", ENTITIES), ("relations", RELATIONS)):
        lines = [f"{number}\t{name}\n" for number, name in enumerate(names)]
        if first == "name":
            lines = [f"{name}\t{number}\n" for number, name in enumerate(names)]
        (folder / f"{kind}.tsv").write_text("".join(lines))
    return e, r


@pytest.mark.parametrize("model", MODELS)
def test_scores_are_its_formulas(model, tmp_path):
    e, r = write(tmp_path, model)
    run = import_embedding(tmp_path, tmp_path / "out", "dglke", "nations", Options())
    triples = all_triples()[::5]
    entities, relations = by_id(e, ENTITY_IDS), by_id(r, RELATION_IDS)
    h, other, t = triples.T
    expected = MODELS[model][2](entities[h], relations[other], entities[t])
    found = run.scorer.score_triples(torch.from_numpy(triples.copy())).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    told = any("DGL-KE" in note for note in run.notes)
    assert told is (model in ("SimplE", "RESCAL")), "what its own evaluation does otherwise"


def test_lists_in_another_folder_and_order(tmp_path):
    write(tmp_path, "DistMult", "name")
    data = tmp_path / "data"
    data.mkdir()
    for kind in ("entities", "relations"):
        (tmp_path / f"{kind}.tsv").rename(data / f"{kind}.dict")
    with pytest.raises(KgdashError, match="no list of names in"):
        read_dglke(tmp_path, Options())
    assert read_dglke(tmp_path, Options(names=data)).entity_names == ENTITIES


@pytest.mark.parametrize("flag", ["double_ent", "double_rel"])
@pytest.mark.parametrize("model", [name for name in MODELS if name != "RotatE"])
def test_vectors_of_another_length_than_the_settings_say_are_refused(model, flag, tmp_path):
    """For RotatE alone they were compared."""
    write(tmp_path, model)
    for changes in ({"hidden_dim": 400}, {flag: model != "SimplE"}):
        configured(model, **changes)(tmp_path)
        with pytest.raises(KgdashError, match=r"hidden_dim .* tells of .* columns of"):
            read_dglke(tmp_path, Options())


def test_the_lists_are_those_that_the_settings_name(tmp_path):
    """Those of usual names, in whatever order, were read without a word."""
    write(tmp_path, "DistMult")
    named = "".join(f"{n}\t{name}\n" for n, name in enumerate(ENTITIES[::-1]))
    (tmp_path / "map.tsv").write_text(named)
    for said in ("map.tsv", "/root/data/map.tsv", "C:\\data\\map.tsv"):
        configured("DistMult", emp_file=said)(tmp_path)
        assert read_dglke(tmp_path, Options()).entity_names == ENTITIES[::-1]
    data = tmp_path / "data"
    data.mkdir()
    for path in tmp_path.glob("*s.tsv"):
        path.rename(data / path.name)
    with pytest.raises(KgdashError, match=r"names map.tsv as the list of entities, which is"):
        read_dglke(tmp_path, Options(names=data))
    for said in (None, "gone.tsv", "..", "", "../map.tsv/.."):
        configured("DistMult", emp_file=said)(tmp_path)
        assert read_dglke(tmp_path, Options(names=data)).entity_names == ENTITIES


def test_lists_of_freebase_tell_how_many_names_follow(tmp_path):
    write(tmp_path, "DistMult")
    lines = [str(len(ENTITIES)), *(f"{name}\t{n}" for n, name in enumerate(ENTITIES))]
    (tmp_path / "entity2id.txt").write_text("\n".join(lines))
    (tmp_path / "entities.tsv").unlink()
    configured("DistMult", emp_file="entity2id.txt")(tmp_path)
    assert read_dglke(tmp_path, Options()).entity_names == ENTITIES


REFUSED = {
    "two lists": (
        lambda p: (
            configured(emp_file=None)(p),
            (p / "entities.dict").write_text("0\tb\n1\ta\n"),
        ),
        "holds entities.tsv and entities.dict, which may differ; keep one",
    ),
    "no config": (lambda p: (p / "config.json").unlink(), "DGL-KE writes it beside the vectors"),
    "no JSON": (lambda p: (p / "config.json").write_text("{"), "is not valid JSON"),
    "a list": (lambda p: (p / "config.json").write_text("[]"), "expected a JSON object"),
    "TransR": (
        lambda p: (p / "config.json").write_text('{"model_name": "TransR"}'),
        "model 'TransR' is not read",
    ),
    "no name of a model": (
        lambda p: (p / "config.json").write_text('{"model_name": {}}'),
        "model {} is not read",
    ),
    "no gamma": (
        lambda p: (p / "config.json").write_text('{"model_name": "RotatE", "hidden_dim": "4"}'),
        "need numbers gamma and hidden_dim; found None and '4'",
    ),
    "a hidden_dim of other vectors": (
        configured(hidden_dim=400),
        "config.json: hidden_dim 400 tells of 800 columns of entities; found 8. It is of another",
    ),
    "a model of other vectors": (
        configured("TransE_l2"),
        "the model is TransE_l2, and nations_RotatE_entity.npy is of RotatE; take the config.json",
    ),
    "relations of another model": (
        lambda p: next(p.glob("*_relation.npy")).rename(p / "nations_TransR_relation.npy"),
        "the model is RotatE, and nations_TransR_relation.npy is of TransR",
    ),
    "no vectors": (lambda p: next(p.glob("*_entity.npy")).unlink(), "found none"),
    "numbers that are missing": (
        lambda p: (p / "entities.tsv").write_text("0\ta\n2\tb\n"),
        "expected the numbers 0, 1, 2",
    ),
    "names that are numbers, too": (
        lambda p: (p / "entities.tsv").write_text("0\t2\n1\t0\n2\t1\n"),
        "either column may be the numbers of rows, and they differ; write names .*e12 for 12",
    ),
    "three columns": (
        lambda p: (p / "entities.tsv").write_text("0\ta\tb\n"),
        r"expected a number and a name; found '0\\ta\\tb' .*entities.tsv, line 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    change, message = REFUSED[name]
    write(tmp_path, "RotatE")
    change(tmp_path)
    with pytest.raises(KgdashError, match=message):
        read_dglke(tmp_path, Options())
