"""A run: what it is told apart by, what of it is kept, and what does not fit."""

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError, unknown_name
from kgdash.files import row_table
from kgdash.files.table_cache import cache_size, clear_cache, list_cache
from kgdash.progress import Estimate, phases
from kgdash.ranking import relik_table
from kgdash.runs.loading import check_fit
from tests.support.checks import check_progress
from tests.support.fakes import fake_run, make_graph, random_scorer

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0), (2, 1, 2)])


def test_digest_follows_graph_and_weights():
    other = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)], 3, 2)
    runs = [
        fake_run(GRAPH, random_scorer(3, 2, 0)),
        fake_run(GRAPH, random_scorer(3, 2, 1)),
        fake_run(other, random_scorer(3, 2, 0)),
    ]
    assert len({run.digest for run in runs}) == 3
    assert fake_run(GRAPH, random_scorer(3, 2, 0)).digest == runs[0].digest


def test_split_is_ignored_where_triples_are_given():
    run = fake_run(GRAPH, random_scorer(3, 2))
    one, two = (run.relik(split, triples=[(0, 0, 0)]) for split in ("test", "train"))
    assert one.equals(two)
    assert len(one) == 1


def test_order_and_duplicates_are_kept():
    run = fake_run(GRAPH, random_scorer(3, 2))
    triples = np.array([(2, 1, 2), (0, 1, 0), (2, 1, 2)])
    for table in (run.relik(triples=triples), run.ranks(triples=triples, sides=["tail"])):
        assert (table[["head", "relation", "tail"]].to_numpy() == triples).all()
    values = run.relik(triples=triples)["relik"]
    assert values[0] == values[2] != values[1]


def test_a_model_of_another_size_is_refused():
    check_fit(GRAPH, random_scorer(3, 2), "here")
    with pytest.raises(KgdashError, match="here: the model has 4 entities, graph tiny has 3"):
        check_fit(GRAPH, random_scorer(4, 2), "here")
    with pytest.raises(KgdashError, match="the model has 1 relations, graph tiny has 2"):
        check_fit(GRAPH, random_scorer(3, 1), "here")


class TestReliKSteps:
    """While it is counted, and exact when it is."""

    rng = np.random.default_rng(1)
    rows = np.unique(rng.integers(0, (80, 2, 80), (400, 3)), axis=0)
    graph = make_graph(rows[:300], (), rows[300:], 80, 2)

    @pytest.fixture
    def run(self, monkeypatch):
        monkeypatch.setattr(relik_table, "_LEAST", 80 * 2 * 20)
        monkeypatch.setattr(row_table, "_LEAST", 1e-9)
        monkeypatch.setattr(row_table, "_TIMES", 0)
        return fake_run(self.graph, random_scorer(80, 2, seed=5, inverse=True))

    @pytest.mark.parametrize(
        "which", [{}, {"split": "train"}, {"triples": [(0, 1, 0), (7, 1, 8), (7, 1, 8)]}]
    )
    def test_the_last_is_relik(self, run, which):
        *before, last = run.relik_steps(**which)
        assert last.exact
        assert last.low == last.mean == last.high == last.triples["relik"].mean()
        pd.testing.assert_frame_equal(last.triples, fake_run(self.graph, run.scorer).relik(**which))
        assert not any(step.exact for step in before)

    def test_nothing_is_computed_before_it_is_asked_for(self, run):
        steps = run.relik_steps()
        assert run.scorer.asked == []
        next(steps)
        asked = len(run.scorer.asked)
        assert asked > 0
        next(steps)
        assert len(run.scorer.asked) > asked

    def test_what_is_stored_comes_alone(self, run, keep_all):
        assert len(list(run.relik_steps())) > 2
        again = fake_run(self.graph, run.scorer)
        run.scorer.asked.clear()
        assert [step.exact for step in again.relik_steps()] == [True]
        assert run.scorer.asked == []

    def test_progress_runs_to_all_and_may_stop_it(self, run):
        check_progress(lambda progress: list(run.relik_steps(progress=progress)))

    def test_refusals_are_those_of_relik(self, run):
        with pytest.raises(KgdashError, match="unknown split 'tests'"):
            next(run.relik_steps("tests"))


class TestProgress:
    def test_phases_run_from_nothing_to_all(self):
        told = []
        first, second = phases(lambda done, total: told.append(done / total), [3, 1])
        first(0, 10)
        first(10, 10)
        second(1, 2)
        second(2, 2)
        assert told == pytest.approx([0, 0.75, 0.875, 1])

    def test_a_phase_without_work(self):
        told = []
        (only,) = phases(lambda done, total: told.append(done / total), [1])
        only(0, 0)
        assert told == [0]

    def test_remaining_time(self, monkeypatch):
        clock = iter([100.0, 104.0, 104.0])
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        estimate = Estimate()
        assert estimate.remaining(1, 4) == 12
        assert estimate.remaining(0, 4) is None


def test_unknown_names_suggest_the_nearest_in_their_own_spelling():
    error = unknown_name("model", "transe", ["TransE", "DistMult"], "here")
    assert str(error) == "unknown model 'transe' in here (TransE, DistMult); did you mean 'TransE'?"
    both = str(unknown_name("relation", "IN", ["In", "in"], "here"))
    assert both.endswith("did you mean 'In'?")  # the first of two that differ in case
    assert str(unknown_name("run", "zzz", [], "here")) == "unknown run 'zzz' in here (0 known)"


@pytest.mark.usefixtures("keep_all")
class TestKeptTables:
    """Everything that a table depends on is in its key."""

    graph = make_graph([(0, 0, 1), (2, 1, 0)], [(1, 1, 2)], [(0, 1, 2), (2, 0, 3)])

    def run(self, seed=0, graph=None):
        return fake_run(graph or self.graph, random_scorer(4, 2, seed, inverse=True))

    def test_ranks(self):
        run = self.run()
        calls = [
            {},
            {"split": "valid"},
            {"split": "valid", "filter": "train+valid+test"},
            {"filter": "none"},
            {"filter": "train+test"},
            {"sides": ["relation"]},
            {"sides": ["tail", "head"]},
            {"triples": [(2, 0, 3), (0, 1, 2)]},
            {"triples": [(1, 1, 1), (1, 1, 2)]},
        ]
        made = [run.ranks(**call) for call in calls]
        run.ranks_of_mixed([(1, 1, 1), (1, 1, 2)])
        # One table for each of four filters, and one each for what holds a triple of no split.
        filters = {"train+valid+test", "train+valid", "none", "train+test"}
        assert set(list_cache()["filter"]) == filters
        assert cache_size()[0] == len(filters) + 2
        clear_cache()
        for call, table in zip(calls, made, strict=True):
            pd.testing.assert_frame_equal(self.run().ranks(**call), table)
        for call, table in zip(calls, made, strict=True):
            pd.testing.assert_frame_equal(self.run().ranks(**call), table)

    def test_another_model_or_graph_is_another_table(self):
        other = make_graph([(0, 0, 1), (2, 1, 0)], [(1, 1, 2)], [(0, 1, 2), (2, 0, 3), (3, 0, 3)])
        for run in (self.run(0), self.run(1), self.run(0, other)):
            run.ranks()
        assert cache_size()[0] == 3

    def test_relik(self):
        run = self.run()
        run.relik()
        run.relik(rank_type="pessimistic")  # another reading of the same counts
        assert cache_size()[0] == 1
        run.relik(method="sampled", samples=3)
        run.relik(method="lower-bound", samples=3)
        assert cache_size()[0] == 2
        run.relik(method="sampled", samples=4)
        run.relik(method="sampled", samples=3, seed=1)
        assert cache_size()[0] == 4

    def test_scores_are_not_asked_for_again(self):
        self.run().relik()
        again = self.run()
        again.relik()
        assert again.scorer.asked == []

    def test_what_is_noted_of_them(self):
        run = fake_run(self.graph, random_scorer(4, 2))
        run.ranks(filter="train+test", sides=["tail"])
        run.relik(split="train")
        run.relik(method="sampled", samples=7)
        table = list_cache().set_index("method")
        assert table["run"].tolist() == ["fake"] * 3
        assert set(table["run_digest"]) == {run.digest}
        assert set(table["graph"]) == {"tiny"}
        ranks, exact = table.loc[""], table.loc["exact"]
        assert (ranks["kind"], ranks["filter"], ranks["triples"]) == ("ranks", "train+test", 2)
        # Of all triples those were counted that share a head with one asked for, or a tail.
        assert (exact["kind"], exact["triples"]) == ("relik", 4)
        assert table.loc["sampled, 7 a side", "kind"] == "relik"
