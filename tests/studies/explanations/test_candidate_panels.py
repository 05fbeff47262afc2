"""Parabolas lie above the distances that they touch; what is kept of vectors is bounded."""

import numpy as np
import pytest

from kgdash.studies.explanations import candidate_panels
from kgdash.studies.explanations.candidate_panels import Panels
from kgdash.studies.explanations.carrying_facts import affine_form
from tests.studies.explanations.conftest import Written


@pytest.mark.parametrize("norm", [1, 2])
def test_bends_are_those_of_parabolas_from_above(norm):
    made = Written("TransE", {"embedding_dim": 6, "scoring_fct_norm": norm}, False)
    panels = Panels(affine_form(made.run))
    rng = np.random.default_rng(1)
    vectors = panels.of(panels.key("tail", 0)).vectors
    query = rng.normal(size=6).astype(np.float32)
    bends, slopes = panels.bends(query, vectors), panels.slopes(query, vectors)
    for move in rng.normal(size=(50, 6)).astype(np.float32):
        above = -panels.compared(query, vectors) - slopes @ move + bends @ move**2 / 2
        assert (above >= -panels.compared(query + move, vectors) - 1e-4).all()


def test_vectors_are_kept_up_to_a_limit(written, monkeypatch):
    form = affine_form(written("TransE").run)
    panels = Panels(form)
    assert panels.of(("head", 1)) is panels.of(("head", 1))
    monkeypatch.setattr(candidate_panels, "_KEPT", 0)
    few = Panels(form)
    assert few.of(("head", 1)) is not few.of(("head", 1))
    np.testing.assert_array_equal(few.of(("head", 1)).vectors, panels.of(("head", 1)).vectors)
