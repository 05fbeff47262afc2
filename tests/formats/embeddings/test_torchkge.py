"""States that TorchKGE 0.17.7 wrote, with the scores that its models gave (``written``)."""

from pathlib import Path
from shutil import copy

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.options import Options
from kgdash.formats.embeddings.torchkge import read_torchkge
from kgdash.runs.importing import import_embedding
from tests.support.embeddings import ENTITIES, ENTITY_IDS, RELATION_IDS, RELATIONS, write_names

WRITTEN = Path(__file__).parent / "written"
SCORES = np.load(WRITTEN / "torchkge-scores.npz")


@pytest.fixture
def folder(tmp_path):
    write_names(tmp_path, "entities", ENTITIES)
    write_names(tmp_path, "relations", RELATIONS)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "interaction"),
    [
        ("TransE", "TransE"),
        ("TransE-L1", "TransE-L1"),
        ("DistMult", "DistMult"),
        ("HolE", "HolE"),
        ("RESCAL", None),
        ("ComplEx", None),
        ("TransH", None),
    ],
)
def test_scores_are_its_own(model, interaction, folder):
    state = copy(WRITTEN / f"torchkge-{model}.pt", folder)
    options = Options(interaction)
    run = import_embedding(Path(state), folder / "out", "torchkge", "nations", options)
    rows = (ENTITY_IDS[SCORES["h"]], RELATION_IDS[SCORES["r"]], ENTITY_IDS[SCORES["t"]])
    found = run.scorer.score_triples(torch.from_numpy(np.stack(rows, axis=1)))
    np.testing.assert_allclose(found.numpy(), SCORES[model], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("length", "is_told"), [(1.0, False), (1.0005, False), (2.0, True)])
def test_vectors_that_are_scaled_are_told(length, is_told, folder):
    """By honest states before normalize_parameters() an MRR of 0.59 for its evaluator's 0.51."""
    rows = torch.nn.functional.normalize(torch.arange(1.0, 29.0).reshape(14, 2)) * length
    path = state(folder, ent_emb=rows, rel_emb=torch.ones(55, 2))
    found = read_torchkge(path, Options("TransE"))
    assert ["normalize_parameters()" in note for note in found.notes] == [True] * is_told


def state(folder, **tensors):
    torch.save({f"{name}.weight": value for name, value in tensors.items()}, folder / "s.pt")
    return folder / "s.pt"


REFUSED = {
    "to be named": (
        {"ent_emb": torch.ones(14, 2), "rel_emb": torch.ones(55, 2)},
        "may be of several models: give --interaction, one of TransE, DistMult, HolE",
    ),
    "TransD": (
        {"ent_emb": torch.ones(2, 2), "rel_emb": torch.ones(2, 2), "ent_proj_vect": torch.ones(2)},
        "no model of TorchKGE's that is read",
    ),
    "nothing": ({}, "it holds no tensors and lacks ent_emb.weight, rel_emb.weight"),
    "shapes": (
        {"ent_emb": torch.ones(2, 2), "rel_emb": torch.ones(2, 2), "norm_vect": torch.ones(2, 3)},
        "expected two matrices of one shape",
    ),
    "no rows": ({"ent_emb": torch.ones(2), "rel_mat": torch.ones(2)}, "expected rows of reals"),
}


@pytest.mark.parametrize(
    ("own", "further"),
    [
        # ConvKB was read as DistMult, TransE or HolE, whichever was asked for, without a word.
        ("TransE", {"convlayer.0.weight": (4, 3, 1), "convlayer.0.bias": (4,)}),
        ("RESCAL", {"rel_emb.weight": (55, 4)}),
        ("TransH", {"proj_mat.weight": (55, 16)}),
        ("ComplEx", {"ent_emb.weight": (14, 4)}),
    ],
)
def test_models_with_further_tensors_are_refused(own, further, folder):
    state = torch.load(WRITTEN / f"torchkge-{own}.pt", weights_only=True)
    torch.save(state | {k: torch.ones(shape) for k, shape in further.items()}, folder / "s.pt")
    first = next(iter(further))
    with pytest.raises(KgdashError, match=f"no model of TorchKGE's that is read .*{first}"):
        read_torchkge(folder / "s.pt", Options("TransE"))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, folder):
    tensors, message = REFUSED[name]
    with pytest.raises(KgdashError, match=message):
        read_torchkge(state(folder, **tensors), Options())


def test_a_whole_model_is_refused_unread(folder):
    torch.save(torch.nn.Embedding(2, 2), folder / "s.pt")
    with pytest.raises(KgdashError, match=r"what torch.save\(model.state_dict\(\), path\) writes"):
        read_torchkge(folder / "s.pt", Options())
    torch.save([1, 2], folder / "s.pt")
    with pytest.raises(KgdashError, match="expected tensors by name"):
        read_torchkge(folder / "s.pt", Options())


def test_tensors_that_share_their_numbers_are_not_multiplied(folder):
    """A thousand views of ten megabytes would be copied into gigabytes."""
    shared = torch.zeros(64, dtype=torch.float64)
    views = {f"t{number}": shared[number:] for number in range(4)}
    with pytest.raises(KgdashError, match="tensors share their numbers"):
        read_torchkge(state(folder, **views), Options())


def test_lists_beside_the_vectors_stand_for_no_others(folder):
    """Of a folder that is not there, those beside the vectors were read without a word."""
    path = Path(copy(WRITTEN / "torchkge-ComplEx.pt", folder))
    with pytest.raises(KgdashError, match=r"no list of names in .*nowhere: expected entities.txt"):
        read_torchkge(path, Options(names=folder / "nowhere"))


def test_lists_of_names_that_are_missing(tmp_path):
    path = Path(copy(WRITTEN / "torchkge-ComplEx.pt", tmp_path))
    with pytest.raises(KgdashError, match=r"no list of names in .*expected entities.txt; --names"):
        read_torchkge(path, Options())
