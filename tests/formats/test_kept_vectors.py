"""Vectors that PyKEEN kept, by which it scores, are what the weights make, or refused."""

import copy

import numpy as np
import pytest
import torch

from kgdash.formats import kept_vectors
from kgdash.formats.kept_vectors import _agree
from kgdash.graph.datasets import load_dataset
from kgdash.ranking.ranks import rank_triples
from kgdash.scoring.pykeen_scorer import PyKEENScorer
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


def test_what_tells_entities_apart_is_compared_however_little_it_is(tmp_path):
    """Each number was the same to 0.001, and PyKEEN's MRR 0.43 for 0.51."""
    model = make("RGCN", embedding_dim=16)
    made = model.entity_representations[0]
    layer = made.layers[-1]
    with torch.no_grad():
        for weights in layer.parameters():
            weights[..., :8] = 0
        layer.self_loop.bias[:8] = 1e5
        model.relation_representations[0]._embeddings.weight[:, :8] *= 1e-4
        made(None)
    save(model, tmp_path / "m.pkl")
    assert_same_scores(tmp_path / "m.pkl", model)
    kept = made.enriched_embeddings
    assert bool((kept[:, :8] > 9e4).all())
    turned = torch.randn(kept.shape, generator=torch.Generator().manual_seed(0)).sign()
    made.enriched_embeddings = kept * (1 + 9e-4 * turned * (kept > 9e4))
    assert "enriched_embeddings, which is not" in refusal(save(model, tmp_path / "m.pkl"))


def test_entities_and_relations_are_of_one_module(tmp_path):
    """PyKEEN scores by both, where a file has the module twice."""
    model = make("CompGCN", True)
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    relations = model.relation_representations[0]
    for change in (1 + 1e-6, None):
        other = copy.deepcopy(relations.combined)
        kept = other.enriched_representations
        other.enriched_representations = change and tuple(each * change for each in kept)
        relations.combined = other
        assert "enriched_representations, which is not" in refusal(save(model, tmp_path / "m.pkl"))
        relations.combined = model.entity_representations[0].combined


def test_what_would_take_much_memory_or_long_is_refused(tmp_path, monkeypatch):
    """20,000 entities of 900 relations, 6 MB, took more than 5 GB; eight layers three minutes."""
    model = make("RGCN")
    with torch.no_grad():
        model.predict_t(torch.tensor([[0, 0]]))
    path = save(model, tmp_path / "m.pkl")
    monkeypatch.setattr(kept_vectors, "memory_budget", lambda: 8 * DIM * ENTITIES * RELATIONS)
    assert_same_scores(path, model)
    monkeypatch.setattr(kept_vectors, "memory_budget", lambda: 8 * DIM * ENTITIES * RELATIONS - 1)
    assert "takes 73,920 bytes: set KGDASH_MEMORY to more" in refusal(path)


def test_ranks_are_those_of_the_tables_raw_and_filtered():
    """Kept ones agreed in raw ranks, behind 150 known answers, and PyKEEN's MRR was 1 for 0.03."""
    model, graph = make("RGCN"), load_dataset("nations")
    any_ = np.random.default_rng(0).integers((ENTITIES, RELATIONS, ENTITIES), size=(300, 3))
    drawn = [graph.splits["test"][:100], any_[:100], graph.splits["train"][:100]]
    with torch.no_grad():
        found = kept_vectors._reciprocal_ranks(model, [*map(torch.from_numpy, drawn)], graph)
    scorer = PyKEENScorer(model)
    expected = [
        1 / rank_triples(scorer, triples, known, [side])["realistic"].to_numpy()
        for triples in drawn
        for side in ("tail", "head")
        for known in (None, graph.known())
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
