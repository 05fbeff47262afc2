"""PyTorch-BigGraph's checkpoints: one that it wrote, others by its layout and its formulas."""

import json
import time
from pathlib import Path
from shutil import copytree

import h5py
import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings import pbg
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.pbg import read_pbg
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

WRITTEN = Path(__file__).parent / "written"

D = 4
N = len(RELATIONS)

#: parameters of an operator, one relation
SHAPES = {
    "none": {},
    "translation": {"translation": (D,)},
    "diagonal": {"diagonal": (D,)},
    "complex_diagonal": {"real": (D // 2,), "imag": (D // 2,)},
    "linear": {"linear_transformation": (D, D)},
}


def complex_rows(values):
    return values[:, : D // 2] + 1j * values[:, D // 2 :]


def changed(operator, x, own):
    """Return vectors as an operator changes them, by its definition."""
    match operator:
        case "translation":
            return x + own["translation"]
        case "diagonal":
            return x * own["diagonal"]
        case "complex_diagonal":
            product = complex_rows(x) * (own["real"] + 1j * own["imag"])
            return np.concatenate([product.real, product.imag], axis=1)
        case "linear":
            return np.einsum("nij,nj->ni", own["linear_transformation"], x)
    return x


COMPARED = {
    "dot": lambda x, y: (x * y).sum(1),
    "cos": lambda x, y: (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1),
    "l2": lambda x, y: -np.linalg.norm(x - y, axis=1),
    "squared_l2": lambda x, y: -((x - y) ** 2).sum(1),
}


def write(folder, operator="diagonal", comparator="dot", dynamic=True, parts=1, **more):
    """Write a checkpoint as PyTorch-BigGraph does; return entities and parameters of each side."""
    e = vectors(len(ENTITIES), D, seed=1)
    sides = ("lhs", "rhs") if dynamic else ("rhs",)
    own = {
        side: {name: vectors(N, *shape, seed=seed + 2) for name, shape in SHAPES[operator].items()}
        for seed, side in enumerate(sides)
    }
    names = ["all_edges"] if dynamic else RELATIONS
    config = {
        "entities": {"all": {"num_partitions": parts, "featurized": False, "dimension": None}},
        "relations": [
            {"name": name, "lhs": "all", "rhs": "all", "operator": operator} for name in names
        ],
        "dimension": D,
        "comparator": comparator,
        "dynamic_relations": dynamic,
        "global_emb": False,
        "bias": False,
        "max_norm": None,
    } | more
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "checkpoint_version.txt").write_text("7\n")
    for part, rows in enumerate(np.array_split(np.arange(len(e)), parts)):
        with h5py.File(folder / f"embeddings_all_{part}.v7.h5", "w") as file:
            file.attrs["format_version"] = 1
            file.create_dataset("embeddings", data=e[rows])
            file.create_dataset("optimizer/state_dict", data=np.zeros(50, "V1"))
        listed = [ENTITIES[row] for row in rows]
        (folder / f"entity_names_all_{part}.json").write_text(json.dumps(listed, indent=4))
    (folder / "dynamic_rel_names.json").write_text(json.dumps(RELATIONS, indent=4))
    with h5py.File(folder / "model.v7.h5", "w", libver=("earliest", "latest")) as file:
        group = file.create_group("model", track_order=True)
        group.create_dataset("entities/all/global_embedding", data=vectors(1, D, seed=9)[0])
        for side, values in own.items():
            for name, rows in values.items():
                if dynamic:
                    plural = name if name in ("real", "imag") else f"{name}s"
                    group.create_dataset(f"relations/0/operator/{side}/{plural}", data=rows)
                    continue
                for number, row in enumerate(rows):
                    group.create_dataset(f"relations/{number}/operator/rhs/{name}", data=row)
    return e, own


def expected_scores(operator, comparator, e, own, triples, side="tail"):
    """Score triples by the library's definition, as asked for tails or for heads."""
    h, r, t = triples.T
    heads, tails = by_id(e, ENTITY_IDS)[h], by_id(e, ENTITY_IDS)[t]
    of = {s: {k: by_id(v, RELATION_IDS)[r] for k, v in kept.items()} for s, kept in own.items()}
    if side == "tail" and "lhs" in own:
        heads = changed(operator, heads, of["lhs"])
    else:
        tails = changed(operator, tails, of["rhs"])
    return COMPARED[comparator](heads, tails)


MODELS = [
    *(("none", comparator) for comparator in COMPARED),
    *(("translation", comparator) for comparator in ("dot", "l2", "squared_l2")),
    *((operator, "dot") for operator in ("diagonal", "complex_diagonal", "linear")),
]


def check(folder, operator, comparator, e, own):
    run = import_embedding(folder, folder / "out", "pbg", "nations", Options())
    triples = all_triples()[::5]
    for side in ("tail", "head"):
        found = run.scorer.score_triples(torch.from_numpy(triples.copy()), side=side).numpy()
        wanted = expected_scores(operator, comparator, e, own, triples, side)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "listed"])
@pytest.mark.parametrize(("operator", "comparator"), MODELS)
def test_scores_are_its_formulas(operator, comparator, dynamic, tmp_path):
    e, own = write(tmp_path, operator, comparator, dynamic)
    check(tmp_path, operator, comparator, e, own)


def test_scores_are_its_own(tmp_path):
    """Trained in two parts for three epochs, scored by ``MultiRelationEmbedder.forward``."""
    run = import_embedding(
        copytree(WRITTEN / "pbg", tmp_path / "pbg"), tmp_path / "out", "pbg", "nations", Options()
    )
    rows = json.loads((WRITTEN / "pbg-scores.json").read_text())
    entities, relations = (
        {name: number for number, name in enumerate(names)}
        for names in (run.graph.entities, run.graph.relations)
    )
    triples = torch.tensor([(entities[h], relations[r], entities[t]) for h, r, t, *_ in rows])
    for side, column in (("head", 3), ("tail", 4)):
        found = run.scorer.score_triples(triples, side=side).numpy()
        np.testing.assert_allclose(found, [row[column] for row in rows], atol=2e-6)


def test_parts_a_bound_norm_and_a_global_vector(tmp_path):
    e, own = write(tmp_path, "translation", "l2", False, 3, max_norm=1.5, global_emb=True)
    norms = np.linalg.norm(e, axis=1, keepdims=True)
    assert (norms > 1.5).any()
    assert (norms < 1.5).any()
    e = (e * np.minimum(1, 1.5 / norms) + vectors(1, D, seed=9)).astype(np.float32)
    check(tmp_path, "translation", "l2", e, own)


@pytest.mark.parametrize(("operator", "comparator"), MODELS[4:])
def test_a_relation_without_an_operator_changes_nothing(operator, comparator, tmp_path):
    e, own = write(tmp_path, operator, comparator, False)
    config = json.loads((tmp_path / "config.json").read_text())
    config["relations"][3]["operator"] = "none"
    (tmp_path / "config.json").write_text(json.dumps(config))
    nothing = {"translation": 0, "diagonal": 1, "real": 1, "imag": 0}
    for name, rows in own["rhs"].items():
        rows[3] = np.eye(D) if name == "linear_transformation" else nothing[name]
    check(tmp_path, operator, comparator, e, own)


def test_lists_in_another_folder(tmp_path):
    write(tmp_path, parts=2)
    data = tmp_path / "data"
    data.mkdir()
    for path in tmp_path.glob("*_names*.json"):
        path.rename(data / path.name)
    with pytest.raises(KgdashError, match=r"no list of names in .*expected entity_names_all_0"):
        read_pbg(tmp_path, Options())
    found = read_pbg(tmp_path, Options(names=data))
    assert (found.entity_names, found.relation_names) == (ENTITIES, RELATIONS)


def with_config(**changes):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        for key, value in changes.items():
            target = config["entities"]["all"] if key in config["entities"]["all"] else config
            target[key] = value
        (folder / "config.json").write_text(json.dumps(config))

    return change


def rewrite(folder, change):
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def relations(*operators):
    return [{"name": str(k), "operator": each} for k, each in enumerate(operators)]


def short_names(folder):
    (folder / "entity_names_all_0.json").write_text('["a", "b"]')


def narrow(folder):
    with h5py.File(folder / "model.v7.h5", "w") as file:
        file["model/relations/0/operator/lhs/diagonals"] = np.zeros((N, 3), "f4")


REFUSED = {
    "no config": (
        lambda p: (p / "config.json").unlink(),
        "can not read .*config.json.*; PyTorch-BigGraph writes it beside the vectors",
    ),
    "no version": (lambda p: (p / "checkpoint_version.txt").unlink(), "give the folder of a check"),
    "a version that is none": (
        lambda p: (p / "checkpoint_version.txt").write_text("../x"),
        r"expected a number; found '\.\./x'",
    ),
    "cos": (
        with_config(comparator="cos"),
        "operators diagonal with comparator cos are not read; read is one of none with dot, cos",
    ),
    "affine": (with_config(relations=relations("affine")), "operators affine with comparator dot"),
    "two operators": (
        with_config(relations=relations("none", "diagonal", "linear")),
        "operators none, diagonal, linear with comparator dot are not read",
    ),
    "bias": (with_config(bias=True), "bias is not read; save the vectors as arrays"),
    "features": (with_config(featurized=True), "featurized is not read"),
    "two types": (
        with_config(entities={"user": {}, "item": {}}),
        "one type of entities is read; found user, item",
    ),
    "a type that leads away": (
        with_config(entities={"../x": {}}),
        "'../x' is no type of entities",
    ),
    "no relations": (with_config(relations=[]), "expected entities and relations"),
    "no objects": (with_config(relations=["a"]), "expected what entities and relations are"),
    "no name": (with_config(relations=[{}]), "expected text as name; found None"),
    "a flag that is a number": (
        with_config(dynamic_relations=1),
        "expected true or false as dynamic_relations; found 1",
    ),
    "no partitions": (with_config(num_partitions=0), "expected num_partitions of 1 or more"),
    "a norm below 0": (with_config(max_norm=-1), "expected a max_norm above 0; found -1"),
    "a dimension of other vectors": (
        # It was not looked at.
        lambda p: rewrite(p, lambda config: config.update(dimension=400)),
        "config.json: dimension 400 tells of 400 columns; found 4. It is of another training",
    ),
    "a dimension of these entities": (with_config(dimension=400), "dimension 400 tells of 400"),
    "too few names": (short_names, "has 2 names, .*embeddings_all_0.v7.h5 14 rows"),
    "names that are none": (
        lambda p: (p / "entity_names_all_0.json").write_text('["a", 1]'),
        "entity_names_all_0.json, name 2: expected a name; found 1",
    ),
    "no list": (
        lambda p: (p / "dynamic_rel_names.json").write_text("{}"),
        "expected a JSON list; found dict",
    ),
    "more partitions than there are": (
        with_config(num_partitions=10**9),
        "no list of names in .*expected entity_names_all_1.json",
    ),
    "narrow operators": (narrow, r"expected shape \(55, 4\); found \(55, 3\)"),
    "no operators": (
        with_config(relations=relations("linear")),
        "no model/relations/0/operator/lhs/linear_transformations; "
        "model/relations/0/operator/lhs holds diagonals",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    change, message = REFUSED[name]
    write(tmp_path)
    change(tmp_path)
    with pytest.raises(KgdashError, match=message):
        read_pbg(tmp_path, Options())


@pytest.mark.parametrize(("operator", "comparator"), [("none", "l2"), ("linear", "dot")])
def test_relations_without_parameters_take_little(operator, comparator, tmp_path, monkeypatch):
    write(tmp_path, operator, comparator, False)
    more = relations(operator, *["none"] * 54)
    with_config(relations=more)(tmp_path)
    monkeypatch.setattr(pbg, "_MOST_MADE", 55 * D * 4)
    if operator == "none":
        read_pbg(tmp_path, Options())
        monkeypatch.setattr(pbg, "_MOST_MADE", 55 * D * 4 - 1)
    with pytest.raises(KgdashError, match=r"5[45] relations without parameters take more"):
        read_pbg(tmp_path, Options())


def test_many_relations_without_operators_take_no_time(tmp_path):
    write(tmp_path, "none", "l2", False)
    with_config(relations=relations(*["none"] * 30_000))(tmp_path)
    start = time.process_time()
    assert len(read_pbg(tmp_path, Options()).relation_names) == 30_000
    assert time.process_time() - start < 3


def test_parts_that_are_one_file_are_refused(tmp_path):
    write(tmp_path, parts=2)
    for name in ("entity_names_all_{}.json", "embeddings_all_{}.v7.h5"):
        (tmp_path / name.format(1)).unlink()
        (tmp_path / name.format(1)).hardlink_to(tmp_path / name.format(0))
    with_config(num_partitions=3)(tmp_path)
    with pytest.raises(KgdashError, match=r"row 8: '.*' stands at 1 already"):
        read_pbg(tmp_path, Options())
