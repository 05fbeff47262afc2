"""Spread and histogram of scores are those of NumPy and plain loops."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.engine.sweep_kernels import gather_bins
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.distribution import FREQUENT, score_bins, score_distribution
from kgdash.health.spread import score_spread
from tests.support.fakes import INF, FakeScorer, array, worlds
from tests.support.small_health import NAN, SIDES
from tests.support.tiny_runs import MODELS


def rows_by_definition(rows, triples, known, side):
    """Yield each triple's own score and its rivals' scores; ``rows(side, queries)`` scores."""
    anchor, answer = (0, 2) if side == "tail" else (2, 0)
    queries, which = np.unique(triples[:, [1, anchor]], axis=0, return_inverse=True)
    scores = rows(side, queries[:, 1], queries[:, 0])
    for triple, query in zip(triples.tolist(), which.reshape(-1), strict=True):
        left = np.ones(scores.shape[1], dtype=bool)
        for entity in range(scores.shape[1]):
            other = list(triple)
            other[answer] = entity
            left[entity] = tuple(other) not in known and entity != triple[answer]
        yield scores[query, triple[answer]], scores[query, left].astype(np.float64)


def model_rows(scorer):
    def rows(side, anchors, relations):
        pairs = (anchors, relations) if side == "tail" else (relations, anchors)
        score = scorer.score_tails if side == "tail" else scorer.score_heads
        return score(torch.from_numpy(np.stack(pairs, axis=1))).numpy()

    return rows


def spread_by_definition(rows, triples, known):
    found = []
    for side in SIDES:
        for own, rivals in rows_by_definition(rows, triples, known, side):
            finite = rivals[np.isfinite(rivals)]
            low, high = (finite.min(), finite.max()) if len(finite) else (NAN, NAN)
            found.append(
                {
                    "side": side,
                    "score": float(own),
                    "candidates": len(rivals) + 1,
                    "lowest": low,
                    "highest": high,
                    "mean": finite.mean() if len(finite) else NAN,
                    "at_lowest": (finite == low).sum(),
                    "at_highest": (finite == high).sum(),
                    "finite": len(finite),
                    "plus_infinite": (rivals == INF).sum(),
                    "minus_infinite": (rivals == -INF).sum(),
                    "nan": np.isnan(rivals).sum(),
                }
            )
    return pd.DataFrame(found)


def check_distribution(found, spread, rows, triples, known, bins):
    """Hold a distribution against np.histogram and a Counter."""
    edges = score_bins(spread, bins)
    pools = {
        side: [
            np.concatenate(parts) if side else parts
            for parts in zip(
                *(
                    ([own], rivals)
                    for own, rivals in rows_by_definition(rows, triples, known, side)
                ),
                strict=True,
            )
        ]
        for side in SIDES
    }
    frequent = set()
    for _, rivals in pools.values():
        counts = Counter((rivals[np.isfinite(rivals)] + 0.0).tolist())
        frequent |= {v for v, n in counts.items() if n >= FREQUENT * len(rivals)}
    pools["both"] = [np.concatenate(parts) for parts in zip(*pools.values(), strict=True)]
    assert list(found["side"].unique()) == [*SIDES, "both"]
    for side, (own, rivals) in pools.items():
        part = found[(found["side"] == side) & (found["what"] == "bin")]
        np.testing.assert_array_equal(part["left"], edges[:-1])
        np.testing.assert_array_equal(part["right"], edges[1:])
        for column, scores in (("true", own), ("candidates", rivals)):
            finite = scores[np.isfinite(scores)].astype(np.float64)
            assert part[column].tolist() == np.histogram(finite, edges)[0].tolist()
        part = found[(found["side"] == side) & (found["what"] == "value")]
        assert part["candidates"].is_monotonic_decreasing
        assert (part["left"] == part["right"]).all()
        for column, scores in (("true", own), ("candidates", rivals)):
            counts = Counter((scores[np.isfinite(scores)].astype(np.float64) + 0.0).tolist())
            expected = {value: counts[value] for value in frequent}
            assert dict(zip(part["left"], part[column], strict=True)) == expected


# ConvE rounds by batch, and raw rows are asked once per triple: only the others are compared.
@pytest.mark.parametrize(
    ("name", "filtered"), [*((name, True) for name in MODELS), ("umls-rotate", False)]
)
def test_spread_and_histogram(bundled, name, filtered):
    run = bundled(name)
    triples = run.graph.split("test")[: None if filtered else 80]
    known = run.graph.known() if filtered else None
    facts = set(map(tuple, run.graph.all_triples.tolist())) if filtered else set()
    # All rows come from one call, as the engine's do.
    rows = model_rows(run.scorer)
    spread = score_spread(run.scorer, triples, known)
    expected = spread_by_definition(rows, triples, facts)
    pd.testing.assert_frame_equal(
        spread[expected.columns], expected, check_dtype=False, check_exact=False, rtol=1e-12
    )
    exact = [column for column in expected.columns if column != "mean"]
    assert (spread[exact] == expected[exact]).all(axis=None)
    assert spread[["head", "relation", "tail"]].to_numpy().tolist() == [
        *triples.tolist(),
        *triples.tolist(),
    ]
    found = score_distribution(run.scorer, triples, known, spread)
    check_distribution(found, spread, rows, triples, facts, 60)


class TestTiesInfinitiesAndNaN:
    @given(worlds(), st.sampled_from([1, 3, 60]), st.booleans(), st.data())
    @settings(max_examples=30)
    def test_by_definition(self, world, bins, filtered, data):
        scorer, parts, evaluated = world
        for tensor in (scorer.tails, scorer.heads):
            if data.draw(st.booleans()):
                tensor[data.draw(st.integers(0, len(tensor) - 1))] = NAN
        triples = array(evaluated)
        facts = {tuple(t) for part in parts for t in part} if filtered else set()
        known = KnownTriples(array(facts), scorer.num_entities, scorer.num_relations)
        known = known if filtered else None
        rows = model_rows(scorer)
        spread = score_spread(scorer, triples, known)
        expected = spread_by_definition(rows, triples, facts)
        pd.testing.assert_frame_equal(spread[expected.columns], expected, check_dtype=False)
        found = score_distribution(scorer, triples, known, spread, bins)
        check_distribution(found, spread, rows, triples, facts, bins)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_every_frequent_value_is_found(self, dtype):
        """So many that they share digits, zeros of both signs, and neighbours of one another."""
        generator = np.random.default_rng(0)
        heavy = generator.standard_normal(60).astype(dtype)
        heavy[1:3] = np.nextafter(heavy[0], [-9, 9]).astype(dtype)
        heavy[3:5] = 0.0, -0.0
        scores = generator.standard_normal((40, 2, 300)).astype(dtype)
        often = generator.random(scores.shape) < 0.9
        scores[often] = generator.choice(heavy, often.sum())
        scorer = FakeScorer(scores)
        scorer.tails = torch.from_numpy(scores)
        scorer.num_entities = 300
        triples = array((h, r, 7) for h in range(40) for r in range(2))
        spread = score_spread(scorer, triples, None, ["tail"])
        found = score_distribution(scorer, triples, None, spread)
        values, counts = np.unique(np.delete(scores, 7, axis=2) + dtype(0), return_counts=True)
        share = counts / counts.sum()
        assert 20 < (share >= FREQUENT).sum() < 60  # some values are just below it
        found = found[found["what"] == "value"].set_index("left")["candidates"]
        assert found.to_dict() == {
            float(v): n for v, n in zip(values, counts, strict=True) if n >= FREQUENT * counts.sum()
        }

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("low", [0.0, -7.3, 1e8, -3e-30])
    def test_scores_on_edges(self, low, dtype):
        low = np.float32(low)
        high = low + np.float32(max(abs(low) * 1e-4, 1e-3))
        for bins in (1, 7, 17, 60):
            edges = np.histogram_bin_edges(np.array([low, high], dtype=np.float64), bins)
            near = edges.astype(dtype)
            near = np.concatenate([near, np.nextafter(near, -INF), np.nextafter(near, INF)])
            near = np.clip(near, low, high).astype(dtype)[None]
            counts = np.zeros((4, bins + 1), dtype=np.int64)
            gather_bins(near, 0, np.array([3]), edges, counts)
            expected = 3 * np.histogram(near.astype(np.float64), edges)[0]
            assert counts.sum(axis=0).tolist() == [*expected, 0]
