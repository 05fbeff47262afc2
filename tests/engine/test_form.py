"""Rows of scores in blocks of candidates, against single triples."""

import numpy as np
import pytest

from kgdash.engine import form as engine_form
from kgdash.engine.counting import count_ranks
from kgdash.engine.form import score_all, score_triples
from kgdash.scoring.pykeen_forms import PyKEENForm


@pytest.mark.parametrize("name", ["umls-distmult", "umls-rotate", "umls-conve", "umls-pairre"])
@pytest.mark.parametrize("side", ["head", "tail"])
@pytest.mark.parametrize("numbers", [2**21, 4_000, 1])
def test_blocks_have_the_bits_of_single_triples(bundled, name, side, numbers, monkeypatch):
    monkeypatch.setattr(engine_form, "LAID_OUT", numbers)
    form = bundled(name).scorer.form
    anchors, relations = np.array([5, 0, 5, 134, 77]), np.array([3, 1, 3, 45, 0])
    found = score_all(form, side, anchors, relations)
    assert found.shape == (5, 135)
    for row, (anchor, relation) in enumerate(zip(anchors, relations, strict=True)):
        triples = np.full((135, 3), anchor)
        triples[:, 1], triples[:, 2 if side == "tail" else 0] = relation, np.arange(135)
        scores = score_triples(form, side, triples)
        if form.elementwise:
            assert np.array_equal(found[row], scores)
        else:  # a network's vectors hang on the batch in their last bits
            np.testing.assert_allclose(found[row], scores, rtol=1e-5)


@pytest.mark.parametrize("name", ["umls-distmult", "umls-conve"])
def test_few_wide_vectors_are_made_at_once(bundled, name, monkeypatch):
    """38,000 triples of 12,288 dimensions, a zip of 0.4 MB, took 4 GB."""
    run = bundled(name)
    form, triples = run.scorer.form, run.graph.split("test")
    known, made = run.graph.known(), []
    expected = score_triples(form, "head", triples), count_ranks(form, triples, known, "head")
    vectors = PyKEENForm.vectors
    monkeypatch.setattr(
        PyKEENForm,
        "vectors",
        lambda self, side, ids, relations: (
            made.append(len(ids)) or vectors(self, side, ids, relations)
        ),
    )
    monkeypatch.setattr(engine_form, "_NUMBERS", 7 * form.dimension + 1)
    scores = score_triples(form, "head", triples)
    np.testing.assert_allclose(scores, expected[0], rtol=1e-5, atol=1e-6)  # some are near zero
    assert set(made) == {7, len(triples) % 7}
    made.clear()
    found = count_ranks(form, triples, known, "head")
    assert made.count(7) == len(triples) // 7
    assert all(map(np.array_equal, found, expected[1]))
