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


def write(folder, model, first="number"):
    width, other, _ = MODELS[model]
    e, r = vectors(14, width, seed=1), vectors(55, other, seed=2)
    np.save(folder / f"nations_{model}_entity.npy", e)
    np.save(folder / f"nations_{model}_relation.npy", r)
    config = {"model_name": model, "dataset": "nations", "hidden_dim": D, "gamma": GAMMA}
    (folder / "config.json").write_text(json.dumps(config))
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


def test_lists_in_another_folder_and_order(tmp_path):
    write(tmp_path, "DistMult", "name")
    data = tmp_path / "data"
    data.mkdir()
    for kind in ("entities", "relations"):
        (tmp_path / f"{kind}.tsv").rename(data / f"{kind}.dict")
    with pytest.raises(KgdashError, match="no list of names in"):
        read_dglke(tmp_path, Options())
    assert read_dglke(tmp_path, Options(names=data)).entity_names == ENTITIES


REFUSED = {
    "two lists": (
        lambda p: (p / "entities.dict").write_text("0\tb\n1\ta\n"),
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
        lambda p: (p / "config.json").write_text(
            '{"model_name": "RotatE", "hidden_dim": 400, "gamma": 12}'
        ),
        "hidden_dim is 400, and RotatE's relations have 4 columns",
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
