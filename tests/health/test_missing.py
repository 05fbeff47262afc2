"""NaN scores are counted as plain loops count them."""

from collections import Counter

import numpy as np
import torch
from hypothesis import given, settings

from kgdash.health.missing import missing_scores
from tests.support.fakes import array, worlds
from tests.support.small_health import NAN, SIDES


@given(worlds())
@settings(max_examples=30)
def test_missing_scores_by_definition(world):
    scorer, _, evaluated = world
    generator = np.random.default_rng(0)
    for tensor in (scorer.tails, scorer.heads):
        tensor[torch.from_numpy(generator.random(tensor.shape) < 0.3)] = NAN
    triples = array(evaluated)
    all_of, missing = Counter(), Counter()
    for side in SIDES:
        asked = {(h, r) if side == "tail" else (t, r) for h, r, t in triples.tolist()}
        for anchor, relation in asked:
            for entity in range(scorer.num_entities):
                triple = (
                    (anchor, relation, entity) if side == "tail" else (entity, relation, anchor)
                )
                is_nan = scorer(*triple, side) != scorer(*triple, side)
                for key in {("entity", anchor), ("entity", entity), ("relation", relation)}:
                    all_of[key] += 1
                    missing[key] += is_nan
    found = missing_scores(scorer, triples)
    keys = list(zip(found["kind"], found["id"], strict=True))
    assert set(keys) == {key for key, count in missing.items() if count}
    assert found["nan"].tolist() == [missing[key] for key in keys]
    assert found["scores"].tolist() == [all_of[key] for key in keys]
    assert found["share"].is_monotonic_decreasing
