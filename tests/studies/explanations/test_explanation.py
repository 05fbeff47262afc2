"""An explanation says what it cannot know, and invents nothing."""

from dataclasses import replace

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.explanations import explanation
from kgdash.studies.explanations.explanation import explain
from kgdash.studies.inspection.inspected_triple import InspectedTriple
from tests.support.fakes import FakeScorer, fake_run, make_graph, random_scorer


def test_parts(written):
    run = written("ComplEx").run
    triple = InspectedTriple(*run.graph.split("test")[0].tolist())
    found = explain(run, triple)
    assert found.judged == "test"
    assert found.is_known
    ranks = run.ranks(triples=triple.row, sides=["tail"])
    assert found.rank == ranks["realistic"].iloc[0]
    assert [each.side for each in found.carried] == ["tail", "head"]
    assert [each.entity for each in found.carried] == [triple.head, triple.tail]
    known = {
        t for h, r, t in run.graph.all_triples.tolist() if (h, r) == (triple.head, triple.relation)
    }
    assert set(found.others) == known - {triple.tail}


def test_by_names(written):
    run = written("ComplEx").run
    triple = InspectedTriple(*run.graph.split("test")[0].tolist())
    assert run.why(*triple.names(run.graph)).about() == explain(run, triple).about()
    with pytest.raises(KgdashError, match="unknown entity 'atlantis'"):
        run.why("atlantis", *triple.names(run.graph)[1:])
    with pytest.raises(KgdashError, match="expected a whole triple"):
        run.why("?", *triple.names(run.graph)[1:])


@pytest.mark.parametrize(
    ("triple", "judged"),
    [((0, 0, 1), "train"), ((1, 0, 0), "valid"), ((0, 0, 2), "false"), ((2, 0, 0), "unknown")],
)
def test_who_says_so(monkeypatch, triple, judged):
    graph = make_graph([(0, 0, 1)], [(1, 0, 0)], entities=3)
    monkeypatch.setattr(explanation, "verified_negatives", lambda run: np.array([[0, 0, 2]]))
    found = explain(fake_run(graph, random_scorer(3, 1)), InspectedTriple(*triple))
    assert (found.judged, found.is_known) == (judged, judged in ("train", "valid"))


def test_nan_is_a_fault_and_rules_stay():
    tensor = np.full((3, 2, 3), np.nan)
    graph = make_graph([(0, 0, 1), (0, 1, 1), (1, 0, 2), (1, 1, 2), (2, 0, 0)], entities=3)
    found = explain(fake_run(graph, FakeScorer(tensor)), InspectedTriple(2, 1, 0))
    assert "NaN" in found.fault
    assert found.rank is None
    assert found.carried == ()
    assert found.similar is None
    assert len(found.rules.table)


def test_damaged_negatives_say_nothing(monkeypatch):
    def damaged(run):
        raise KgdashError("damaged")

    monkeypatch.setattr(explanation, "verified_negatives", damaged)
    run = fake_run(make_graph([(0, 0, 1)], entities=3), random_scorer(3, 1))
    assert explain(replace(run), InspectedTriple(2, 0, 0)).judged == "unknown"
