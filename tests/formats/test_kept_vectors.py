"""Vectors that PyKEEN kept, by which it scores, are what the weights make, or refused."""

import pytest
import torch

from kgdash.formats import kept_vectors
from kgdash.formats.kept_vectors import _agree
from kgdash.runs.loading import load
from kgdash.scoring import reckoned_memory
from tests.support.pickled_models import (
    DIM,
    ENTITIES,
    RELATIONS,
    assert_same_scores,
    make,
    refusal,
    save,
)


@pytest.mark.parametrize(("name", "inverse"), [("RGCN", False), ("CompGCN", True)])
def test_what_pykeen_keeps_is_what_the_weights_make(name, inverse, tmp_path):
    """PyKEEN scored by it, and what was read by the weights."""
    model = make(name, inverse)
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
        assert_same_scores(save(model, tmp_path / "m.pkl"), model)
        kept = [
            (each, key)
            for each in model.modules()
            for key in ("enriched_embeddings", "enriched_representations")
            if each.__dict__.get(key) is not None
        ]
        for each, key in kept:
            value = each.__dict__[key]
            other = (value[0], value[1] + 1) if isinstance(value, tuple) else value * torch.nan
            each.__dict__[key] = other
    assert kept
    assert f"{kept[0][1]}, which is not" in refusal(save(model, tmp_path / "m.pkl"))


def test_a_large_number_hides_none_that_is_another():
    own = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    own[:, 0] = 1e5  # of which scores need not depend
    own[3] *= 1e5
    own[:, 1] = 0
    assert _agree(own * (1 + 1e-4) + 1e-5 * (own != 0), own)
    for row, column in ((7, 2), (7, 0), (3, 4), (7, 1)):
        other = own.clone()
        other[row, column] = 1.01 * other[row, column] + 0.01
        assert not _agree(other, own)
    assert not _agree(own[1:], own)
    assert not _agree(own * torch.nan, own)


def test_by_what_kgdash_scores_is_told(tmp_path):
    """Vectors that were made for it agreed to 0.001, and PyKEEN's MRR was 0.43 for 0.51."""
    model = make("RGCN")
    save(model, tmp_path / "trained_model.pkl")
    assert kept_vectors.NOTE not in load(tmp_path, "nations").notes
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    save(model, tmp_path / "trained_model.pkl")
    assert kept_vectors.NOTE in load(tmp_path, "nations").notes


def test_what_would_take_much_memory_or_long_is_refused(tmp_path, monkeypatch):
    """20,000 entities of 900 relations, 6 MB, took more than 5 GB; eight layers three minutes."""
    model = make("RGCN")
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    path = save(model, tmp_path / "m.pkl")
    most = 8 * DIM * ENTITIES * RELATIONS + 4 * DIM * DIM * RELATIONS
    monkeypatch.setattr(reckoned_memory, "memory_budget", lambda: most)
    assert_same_scores(path, model)
    monkeypatch.setattr(reckoned_memory, "memory_budget", lambda: most - 1)
    assert f"to score takes {most:,} bytes" in refusal(path)
