"""OpenKE's checkpoints, by the tensors' names and formulas of its models."""

import numpy as np
import pytest
import torch

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.openke import _COMPLEX, read_openke
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
E, R, E2, R2 = (vectors(n, D, seed=k) for k, n in enumerate((14, 55, 14, 55)))
MATRICES, WIDE = vectors(55, D * D, seed=7), vectors(14, 2 * D, seed=8)
SPAN = np.float32(0.4)


def unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def triples():
    return all_triples()[::5]


def rows(*given):
    """Return each matrix's rows of the triples' heads, relations and tails."""
    h, r, t = triples().T
    found = []
    for values in given:
        ids = ENTITY_IDS if len(values) == len(ENTITIES) else RELATION_IDS
        own = by_id(values, ids)
        found += [own[h], own[t]] if ids is ENTITY_IDS else [own[r]]
    return found


def transe(normed, p):
    def score():
        h, t, r = (unit(x) if normed else x for x in rows(E, R))
        return -np.linalg.norm(h + r - t, p, axis=-1)

    return score


def distmult():
    h, t, r = rows(E, R)
    return (h * r * t).sum(-1)


def complex_score():
    re_h, re_t, im_h, im_t, re_r, im_r = rows(E, E2, R, R2)
    return ((re_h + 1j * im_h) * (re_r + 1j * im_r) * (re_t - 1j * im_t)).sum(-1).real


def rescal():
    h, t, r = rows(E, MATRICES)
    # Its predict is ⟨h, R t⟩, the lowest the best.
    return -np.einsum("ni,nij,nj->n", h, r.reshape(-1, D, D), t)


def rotate():
    h, t, r = rows(WIDE, R)
    turned = np.exp(1j * r / (SPAN / np.pi))
    difference = (h[:, :D] + 1j * h[:, D:]) * turned - (t[:, :D] + 1j * t[:, D:])
    return -np.abs(difference).sum(-1)


PAIR = {"ent_embeddings.weight": E, "rel_embeddings.weight": R}
CASES = {
    "TransE": (
        PAIR | {"margin": np.ones(1), "embedding_range": np.ones(1)},
        Options("TransE"),
        transe(True, 1),
    ),
    "TransE, L2, as they are": (PAIR, Options("TransE", norm=2, unit=False), transe(False, 2)),
    "DistMult": (PAIR, Options("DistMult"), distmult),
    "SimplE": (PAIR | {"rel_inv_embeddings.weight": R2}, Options(), distmult),
    "ComplEx": (
        {
            f"{kind}_{part}_embeddings.weight": values
            for kind, part, values in (
                ("ent", "re", E),
                ("ent", "im", E2),
                ("rel", "re", R),
                ("rel", "im", R2),
            )
        },
        Options(),
        complex_score,
    ),
    "RESCAL": (
        {"ent_embeddings.weight": E, "rel_matrices.weight": MATRICES},
        Options(),
        rescal,
    ),
    "RotatE": (
        {
            "ent_embeddings.weight": WIDE,
            "rel_embeddings.weight": R,
            "ent_embedding_range": np.array([0.2], dtype=np.float32),
            "rel_embedding_range": np.array([SPAN]),
        },
        Options(),
        rotate,
    ),
}


def checkpoint(folder, tensors):
    """Write a checkpoint and lists of names as OpenKE does."""
    constants = {"zero_const": torch.zeros(1), "pi_const": torch.full((1,), np.pi)}
    state = constants | {name: torch.from_numpy(value) for name, value in tensors.items()}
    torch.save(state, folder / "transe.ckpt")
    for kind, names in (("entity", ENTITIES), ("relation", RELATIONS)):
        lines = [str(len(names)), *(f"{name}\t{number}" for number, name in enumerate(names))]
        (folder / f"{kind}2id.txt").write_text("\n".join(lines) + "\n")
    return folder / "transe.ckpt"


@pytest.mark.parametrize("name", CASES)
def test_scores_are_its_models(name, tmp_path):
    tensors, options, formula = CASES[name]
    path = checkpoint(tmp_path, tensors)
    run = import_embedding(path, tmp_path / "out", "openke", "nations", options)
    found = run.scorer.score_triples(torch.from_numpy(triples().copy())).numpy()
    np.testing.assert_allclose(found, formula(), rtol=1e-4, atol=1e-4)
    # By OpenKE's own loss and test, its example's MRR is 0.02, and 0.82 the other way round.
    turned = [note for note in run.notes if "wrong way round" in note]
    assert bool(turned) is (name == "RESCAL")


def test_a_list_of_another_length_than_it_tells_is_refused(tmp_path):
    path = checkpoint(tmp_path, PAIR)
    text = (tmp_path / "relation2id.txt").read_text()
    (tmp_path / "relation2id.txt").write_text(text.replace("55\n", "400\n", 1))
    with pytest.raises(KgdashError, match=r"relation2id.txt: line 1 tells of 400 names, 55 follow"):
        read_openke(path, Options("DistMult"))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (PAIR, "may be of several models"),
        (PAIR | {"norm_vector.weight": R}, "no model of OpenKE's that is read"),
        (PAIR | {"rel_embedding_range": np.zeros(1)}, "rel_embedding_range above 0"),
        # Of a range below 0 the sign was left out, and another pi was, both without a word.
        (
            PAIR | {"rel_embedding_range": -np.ones(1, np.float32)},
            "rel_embedding_range above 0; found -1.0",
        ),
        (CASES["RotatE"][0] | {"pi_const": np.ones(1)}, "expected pi_const 3.14159; found 1"),
        (PAIR | {"zero_const": np.ones(1)}, "expected zero_const 0; found 1"),
        (PAIR | {"rel_embedding_range": np.ones(2)}, r"one number as rel_.*; found shape \(2,\)"),
        (PAIR | {"margin": np.ones(1, np.complex64)}, "expected one number as margin"),
        ({}, "no model of OpenKE's that is read"),
        (dict.fromkeys(_COMPLEX, np.ones(())), "no model of OpenKE's that is read"),
        # Analogy: ComplEx, and a DistMult beside it, of which half was left out without a word.
        (PAIR | dict.fromkeys(_COMPLEX, np.ones((2, 2))), "no model of OpenKE's that is read"),
        (PAIR | {"rel_matrices.weight": R}, "no model of OpenKE's that is read"),
        # Tensors of other names than *.weight were left out without a word.
        (PAIR | {"bias": R}, "no model of OpenKE's that is read .*bias"),
    ],
)
def test_what_is_refused(tensors, message, tmp_path):
    with pytest.raises(KgdashError, match=message):
        read_openke(checkpoint(tmp_path, tensors), Options())
