"""A run: what it is told apart by, and what does not fit."""

import numpy as np
import pytest
from fakes import fake_run, make_graph, random_scorer

from kgdash.errors import KgdashError, unknown_name
from kgdash.loading import load
from kgdash.progress import Estimate, phases
from kgdash.runs import check_fit

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


def test_raw_ranks_with_a_filter_are_refused():
    with pytest.raises(KgdashError, match="raw ranks have no filter"):
        load("umls-distmult").ranks(filtered=False, filter="train+valid")
