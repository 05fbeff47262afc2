"""A run: what it is told apart by, and what does not fit."""

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError, unknown_name
from kgdash.files import table_cache as store
from kgdash.progress import Estimate, phases
from kgdash.runs.run import check_fit
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
    """First sampled, then exact; exact alone where that is quick or known."""

    #: 30 entities and 2 relations: some 60 negatives around each entity
    graph = make_graph([(0, 0, 1), (1, 1, 2), (4, 0, 1)], (), [(2, 0, 0), (3, 1, 1)], 30, 2)

    @pytest.fixture
    def run(self):
        return fake_run(self.graph, random_scorer(30, 2, seed=5, inverse=True))

    @pytest.mark.parametrize("which", [{}, {"split": "train"}, {"triples": [(0, 1, 0), (7, 1, 8)]}])
    def test_tables_are_those_of_relik(self, run, which):
        (one, sampled), (two, exact) = run.relik_steps(**which, samples=4, seed=9)
        assert (one, two) == ("sampled", "exact")
        expected = run.relik(**which, method="sampled", samples=4, seed=9)
        pd.testing.assert_frame_equal(sampled, expected)
        pd.testing.assert_frame_equal(exact, run.relik(**which))
        assert "relik_low" in sampled
        assert "relik_low" not in exact

    def test_nothing_is_computed_before_it_is_asked_for(self, run):
        steps = run.relik_steps(samples=4)
        assert run.scorer.asked == []
        next(steps)
        asked = len(run.scorer.asked)
        assert asked > 0
        next(steps)
        assert len(run.scorer.asked) > asked

    @pytest.mark.parametrize(("samples", "steps"), [(5, 2), (6, 1), (1000, 1)])
    def test_a_sample_must_be_a_small_part_of_the_negatives(self, run, samples, steps):
        assert self.graph.num_entities * self.graph.num_relations == 60
        assert [m for m, _ in run.relik_steps(samples=samples)][-1] == "exact"
        assert len(list(run.relik_steps(samples=samples))) == steps

    def test_a_stored_exact_table_comes_alone(self, run, monkeypatch):
        monkeypatch.setattr(store, "_WORTH_KEEPING", -1)
        assert len(list(run.relik_steps(samples=4))) == 2
        again = fake_run(self.graph, run.scorer)
        run.scorer.asked.clear()
        assert [method for method, _ in again.relik_steps(samples=4)] == ["exact"]
        assert run.scorer.asked == []

    def test_progress_runs_to_all_and_may_stop_it(self, run):
        check_progress(lambda progress: list(run.relik_steps(samples=4, progress=progress)))

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
