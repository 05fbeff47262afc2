"""Scores are described as NumPy and plain loops describe them, and what is wrong is found."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.engine import tasks
from kgdash.engine.sweep_kernels import gather_bins
from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.graph.known_triples import KnownTriples
from kgdash.health.distribution import FREQUENT, bin_edges, score_distribution
from kgdash.health.missing import missing_scores
from kgdash.health.of_run import score_health
from kgdash.health.spread import score_spread
from kgdash.health.summary import constant_queries
from kgdash.health.ties import always_tied, tie_groups, tied_candidates
from tests.support.fakes import INF, FakeScorer, array, fake_run, make_graph, random_scorer, worlds
from tests.support.tiny_runs import MODELS

NAN = float("nan")
SIDES = ("head", "tail")


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
    edges = bin_edges(spread, bins)
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


class TestAllBundledModels:
    # ConvE rounds by batch, and raw rows are asked once per triple: only the others are compared.
    @pytest.mark.parametrize(
        ("name", "filtered"), [*((name, True) for name in MODELS), ("umls-rotate", False)]
    )
    def test_spread_and_histogram(self, bundled, name, filtered):
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

    def test_they_are_healthy(self, bundled):
        health = score_health(bundled("umls-transe"))
        assert {finding.level for finding in health.findings()} == {"fine"}
        assert (health.spread["candidates"] == health.ranks["candidates"]).all()
        assert not len(health.missing)
        assert not len(health.tied_entities)


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


def test_threads_and_chunks_change_nothing(bundled, monkeypatch):
    run = bundled("umls-pairre")
    triples, known = run.graph.split("valid"), run.graph.known()

    def everything():
        spread = score_spread(run.scorer, triples, known)
        return spread, score_distribution(run.scorer, triples, known, spread)

    whole = everything()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        monkeypatch.setattr(tasks, "_TASK", 200_000)
        monkeypatch.setattr(tasks, "_QUERIES", 2**16)
        for one, other in zip(everything(), whole, strict=True):
            pd.testing.assert_frame_equal(one, other)
    finally:
        torch.set_num_threads(threads)


TRAIN = [(e, r, (e + 1 + r) % 30) for e in range(30) for r in range(2)]
TEST = [(e, r, (e + 7 + r) % 30) for e in range(30) for r in range(2)]


def health_of(tails, heads=None, **kwargs):
    run = fake_run(make_graph(TRAIN, (), TEST), FakeScorer(tails, heads))
    return score_health(run, **kwargs)


def levels(health, side="both"):
    return {f.check: f.level for f in health.findings(side) if f.level != "fine"}


def texts(health, side="both"):
    return {f.check: f.text for f in health.findings(side)}


class TestFindings:
    def test_a_random_model(self):
        health = score_health(fake_run(make_graph(TRAIN, (), TEST), random_scorer(30, 2)))
        assert levels(health) == {"true above candidates": "fault"}
        (found,) = [f for f in health.findings() if f.check == "true above candidates"]
        ranks = health.ranks
        expected = 1 - (ranks["realistic"] - 1).sum() / (ranks["candidates"] - 1).sum()
        assert found.value == pytest.approx(expected)
        assert 0.4 < found.value < 0.6

    def test_a_constant_model(self):
        health = health_of(torch.full((30, 2, 30), 2.5))
        found = levels(health)
        assert found.pop("entities that always tie") == "notice"
        assert found.pop("frequent value") == "notice"
        assert found.pop("distinct true scores") == "notice"
        assert found.pop("at the minimum") == "notice"
        assert found == dict.fromkeys(
            ["range", "constant queries", "at the maximum", "ties", "true above candidates"],
            "fault",
        )
        assert texts(health)["range"] == "All scores are 2.5: the model tells nothing apart."
        assert "In 120 of 120 distinct queries (100.00%)" in texts(health)["constant queries"]
        assert health.tied_entities["entity"].tolist() == list(range(30))
        assert (
            health.summary().loc["candidates", "at_maximum"]
            == (health.spread["candidates"] - 1).sum()
        )

    def test_a_clipped_model(self):
        """Clipped to [-1, 1]: counts at both ends are those of a normal distribution's tails."""
        scores = random_scorer(30, 2).tails.clamp(-1, 1)
        health = health_of(scores)
        assert levels(health)["at the maximum"] == "fault"
        assert levels(health)["at the minimum"] == "notice"
        assert levels(health)["shared best"] == "fault"
        values = health.distribution.query("what == 'value' and side == 'both'")
        assert set(values["left"]) == {-1.0, 1.0}
        share = values.set_index("left")["candidates"] / (health.spread["candidates"] - 1).sum()
        np.testing.assert_allclose(share, 0.1587, atol=0.03)
        summary = health.summary()
        assert summary.loc["candidates", "at_maximum"] == values.set_index("left")["candidates"][1]
        assert summary.loc["true answers", "at_minimum"] == (health.spread["score"] == -1).sum()

    def test_a_value_in_the_middle(self):
        """Dead units: a third of the scores are exactly 0, between scores of both signs."""
        scores = random_scorer(30, 2).tails
        scores[:, :, 10:20] = 0.0
        health = health_of(scores, random_scorer(30, 2, seed=1).tails)
        assert levels(health, "tail")["frequent value"] == "notice"
        assert "exactly 0, as are 20 true scores" in texts(health, "tail")["frequent value"]
        assert "frequent value" not in levels(health, "head")

    def test_some_constant_queries(self):
        scores = random_scorer(30, 2).tails
        scores[4, 0] = 0.5
        health = health_of(scores, random_scorer(30, 2, seed=1).tails)
        assert "In 1 of 60 distinct queries" in texts(health, "tail")["constant queries"]
        assert levels(health, "tail")["constant queries"] == "fault"  # 1.7%
        assert "constant queries" not in levels(health, "head")
        at = health.spread[constant_queries(health.spread)]
        assert at[["head", "relation", "side"]].to_numpy().tolist() == [[4, 0, "tail"]]

    def test_a_perfect_model_is_not_constant(self):
        """All rivals score 0 and all facts 1: nothing is constant, the top is not shared."""
        scores = torch.zeros(30, 2, 30)
        for h, r, t in [*TRAIN, *TEST]:
            scores[h, r, t] = 1.0
        health = health_of(scores)
        assert "constant queries" not in levels(health)
        assert texts(health)["true above candidates"].endswith("probability 1.000.")

    def test_nan(self):
        scores = random_scorer(30, 2).tails
        scores[3], scores[:, :, 3] = NAN, NAN
        health = health_of(scores)
        assert health.ranks is None
        assert "NaN" in health.refusal
        found = {f.check: f for f in health.findings()}
        assert found["NaN"].level == "fault"
        assert (
            found["NaN"].value == health.spread["nan"].sum() + health.spread["score"].isna().sum()
        )
        assert found["ties"].level == found["true above candidates"].level == "unknown"
        first = health.missing.iloc[0]
        assert (first["kind"], first["id"], first["share"]) == ("entity", 3, 1.0)
        assert (health.missing["share"][1:] < 1).all()
        assert not len(health.tie_groups())
        assert not len(health.by_relation())
        assert health.histogram()["candidates"].sum() == health.spread["finite"].sum()
        tables = health.tables()
        assert tables["missing"]["name"][0] == "E3"
        assert not len(tables["ties"])

    def test_nan_among_known_answers_only(self):
        scores = random_scorer(30, 2).tails
        h, r, t = TRAIN[0]
        scores[h, r, t] = NAN
        health = health_of(scores)
        assert health.spread["nan"].sum() == 0
        assert health.ranks is None
        assert texts(health)["NaN"].startswith("Known answers")
        assert set(zip(health.missing["kind"], health.missing["id"], strict=True)) == {
            ("entity", h),
            ("entity", t),
            ("relation", r),
        }

    def test_nothing_but_nan(self):
        health = health_of(torch.full((30, 2, 30), NAN))
        found = levels(health)
        assert found.pop("NaN") == found.pop("range") == "fault"
        assert set(found.values()) == {"unknown"}
        assert [f.check for f in health.findings() if f.level == "fine"] == ["infinite scores"]
        assert health.histogram()["candidates"].sum() == 0
        assert health.summary()["finite"].sum() == 0

    def test_infinities(self):
        scores = random_scorer(30, 2).tails
        scores[:, :, 5], scores[:, :, 6] = INF, -INF
        health = health_of(scores)
        assert levels(health)["infinite scores"] == "notice"
        total = health.summary()[["plus_infinite", "minus_infinite"]].sum()
        assert f"{total['plus_infinite']:,} scores are +∞" in texts(health)["infinite scores"]
        assert health.ranks is not None

    def test_equal_embeddings(self):
        scores = random_scorer(30, 2).tails
        for one, other in ((9, 4), (11, 4), (20, 2)):
            scores[one], scores[:, :, one] = scores[other], scores[:, :, other]
        scores[13] = scores[14]  # as heads only
        health = health_of(scores)
        groups = health.tied_entities.groupby("group")["entity"].apply(list)
        assert groups.tolist() == [[4, 9, 11], [2, 20]]
        assert levels(health)["entities that always tie"] == "notice"


class TestTies:
    def test_groups_and_who_ties(self):
        scores = random_scorer(30, 2).tails.round()
        health = health_of(scores, filter="train+test")
        known = {*TRAIN, *TEST}
        table = health.tie_groups("tail", 7)
        ranks = health.ranks.query("side == 'tail'")
        gaps = (ranks["pessimistic"] - ranks["optimistic"]).sort_values(ascending=False)
        assert table["equal_scores"].tolist() == gaps.head(7).tolist()
        for side in SIDES:
            for row in health.tie_groups(side).itertuples():
                triple = (row.head, row.relation, row.tail)
                place = 2 if side == "tail" else 0
                expected = [
                    e
                    for e in range(30)
                    if (other := (*triple[:place], e, *triple[place + 1 :])) not in known
                    and scores[other] == scores[triple]
                ]
                found = health.tied_candidates(triple, side)
                assert found.tolist() == expected
                assert len(found) == row.equal_scores

    def test_raw(self):
        scores = random_scorer(30, 2).tails.round()
        health = health_of(scores, filter="none")
        row = health.tie_groups("head", 1).iloc[0]
        found = health.tied_candidates((row["head"], row["relation"], row["tail"]), "head")
        assert len(found) == row["equal_scores"]

    def test_a_nan_ties_with_nothing(self):
        scorer = FakeScorer(torch.full((4, 1, 4), NAN))
        assert not len(tied_candidates(scorer, (0, 0, 1), "tail", None))
        assert not len(always_tied(scorer, array([(0, 0, 1)])))

    def test_zeros_of_both_signs_tie(self):
        scores = random_scorer(5, 1).tails
        scores[:, :, 2], scores[:, :, 3] = 0.0, -0.0
        found = always_tied(FakeScorer(scores), array([(0, 0, 1), (1, 0, 4)]), ["tail"])
        assert found["entity"].tolist() == [2, 3]

    def test_without_ties(self):
        ranks = health_of(random_scorer(30, 2).tails).ranks
        assert not len(tie_groups(ranks))

    def test_unknown_side(self):
        scorer = random_scorer(4, 1)
        with pytest.raises(KgdashError, match="expected side head or tail; found 'relation'"):
            tied_candidates(scorer, (0, 0, 1), "relation", None)
        with pytest.raises(KgdashError, match="unknown side 'relation'"):
            score_spread(scorer, array([(0, 0, 1)]), None, ["relation"])


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


class TestOfARun:
    def test_gap_per_relation_is_the_breakdown(self):
        health = health_of(random_scorer(30, 2).tails.round())
        table = breakdown(add_rank_facts(health.ranks, health.run.graph), "relation", level=None)
        for side in ("head", "both"):
            expected = table[table["side"] == side].set_index("group")
            found = health.by_relation(side)
            assert found["gap"].is_monotonic_decreasing
            assert set(found["group"]) == set(expected.index)
            for row in found.itertuples():
                assert row.gap == expected.loc[row.group, "gap"]
                assert row.largest_tie == expected.loc[row.group, "largest_tie"]

    def test_tables_are_kept(self, monkeypatch):
        monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
        scores = random_scorer(30, 2).tails.round()
        scores[0] = NAN
        graph, scorer = make_graph(TRAIN, (), TEST), FakeScorer(scores)
        first = score_health(fake_run(graph, scorer))
        asked = len(scorer.asked)
        again = score_health(fake_run(graph, scorer))
        assert [name for name, _ in scorer.asked[asked:]] == ["heads"]  # ranks refuse anew
        for name in ("spread", "distribution", "tied_entities", "missing"):
            pd.testing.assert_frame_equal(getattr(first, name), getattr(again, name))
        listed = store.list_cache()
        assert set(listed["kind"]) == {"scores"}
        assert set(listed["method"]) == {"spread", "distribution", "tied entities", "missing"}

    def test_progress_only_rises_and_may_cancel(self):
        told = []
        health_of(random_scorer(30, 2).tails, progress=lambda done, of: told.append(done / of))
        assert told == sorted(told)
        assert 0.85 < told[-1] <= 1

        def stop(done, of):
            raise InterruptedError

        with pytest.raises(InterruptedError):
            health_of(random_scorer(30, 2).tails, progress=stop)

    @pytest.mark.parametrize(
        ("choices", "message"),
        [
            ({"split": "dev"}, "unknown split 'dev'"),
            ({"split": "valid"}, "split 'valid' of graph tiny holds no triples"),
            ({"filter": "test"}, "unknown filter 'test'"),
        ],
    )
    def test_refusals(self, choices, message):
        with pytest.raises(KgdashError, match=message):
            health_of(random_scorer(30, 2).tails, **choices)
