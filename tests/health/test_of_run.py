"""The health of a run: its tables are kept, and healthy models are called so."""

import pandas as pd
import pytest

from kgdash.breakdowns.breakdown import breakdown
from kgdash.breakdowns.rank_facts import add_rank_facts
from kgdash.errors import KgdashError
from kgdash.files import table_cache as store
from kgdash.health.of_run import score_health
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer
from tests.support.small_health import NAN, TEST, TRAIN, health_of


def test_they_are_healthy(bundled):
    health = score_health(bundled("umls-transe"))
    assert {finding.level for finding in health.findings()} == {"fine"}
    assert (health.spread["candidates"] == health.ranks["candidates"]).all()
    assert not len(health.missing)
    assert not len(health.tied_entities)


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

    def test_tables_are_kept(self, keep_all):
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
