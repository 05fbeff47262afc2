"""What is wrong with a model's scores is found, and nothing else."""

import numpy as np
import pytest
import torch

from kgdash.health.of_run import score_health
from kgdash.health.summary import constant_queries
from tests.support.fakes import INF, FakeScorer, fake_run, make_graph, random_scorer
from tests.support.small_health import NAN, TEST, TRAIN, health_of


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
        assert "In 120 of 120 distinct queries (100%)" in texts(health)["constant queries"]
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

    def test_one_query_that_many_triples_ask(self):
        """Its best rival stands there once for each: "saturated or clipped", without a tie."""
        test = [(head, 0, 59) for head in range(40)]
        graph = make_graph([(0, 1, 1)], (), test, 60)
        health = score_health(fake_run(graph, random_scorer(60, 2, inverse=True)))
        found = {f.check: f for f in health.findings("head")}
        assert found["at the maximum"].level == found["at the minimum"].level == "fine"
        assert found["at the maximum"].value == pytest.approx(1 / 20)
        assert "one query that 40 triples ask, clamping" in found["frequent value"].text

    @pytest.mark.parametrize("alike", [1, 2])
    def test_few_that_share_the_best_score(self, alike):
        """Of 2,000 candidates ten that shared the best were "hardly ever shared", everywhere."""
        tails = random_scorer(400, 2).tails
        tails[:, :, 1::2] = tails[:, :, ::2] - (1e-3 if alike == 1 else 0)
        health = score_health(fake_run(make_graph(TRAIN, (), TEST, 400), FakeScorer(tails)))
        said = {f.check: f.text for f in health.findings("tail")}["shared best"]
        assert said == (
            "Where scores differ at all, no two rivals of the true answer share their best one."
            if alike == 1
            else f"In 59 of {len(TEST)} ranks (98.3%) several rivals of the true answer share "
            "their best score, but nowhere 1% of them."
        )

    def test_a_value_in_the_middle(self):
        """Dead units: a third of the scores are exactly 0, between scores of both signs."""
        scores = random_scorer(30, 2).tails
        scores[:, :, 10:20] = 0.0
        health = health_of(scores, random_scorer(30, 2, seed=1).tails)
        assert levels(health, "tail")["frequent value"] == "notice"
        assert "exactly 0, as are 20 true scores" in texts(health, "tail")["frequent value"]
        assert "frequent value" not in levels(health, "head")

    def test_a_value_of_few_scores(self):
        """Of 29 scores each makes up 3.4%: "no single value makes up 1%"."""
        graph = make_graph([(0, 0, 1)], (), [(0, 0, 2)], 31)
        health = score_health(fake_run(graph, random_scorer(31, 1)))
        said = texts(health, "tail")["frequent value"]
        assert said == "No value makes up 1% of the candidates' scores and 10 of them."

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
