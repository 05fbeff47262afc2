"""The beam of intermediate entities against a search by plain numbers on tiny models."""

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.scoring.protocol import score_rows
from kgdash.studies.queries.beam import Beam, beam_for
from kgdash.studies.queries.paths import list_paths
from kgdash.studies.queries.query_instances import AnswerSampling, query_instances
from kgdash.studies.queries.query_types import QUERY_TYPES
from kgdash.studies.queries.sampling import QuerySampling, draw_queries
from tests.support.fakes import FakeScorer, random_scorer
from tests.support.instance_fakes import graphs, small_graph
from tests.support.query_brute_force import random_queries

RELATIONS = 2
BETWEEN = [kind for kind in QUERY_TYPES.values() if kind.has_intermediates]


def share(scorer, entity, relation, other):
    """Compute the log-softmax of a step as it is defined."""
    if relation < RELATIONS:
        scores = [scorer(entity, relation, x) for x in range(scorer.num_entities)]
    else:
        own = relation - RELATIONS
        scores = [scorer(x, own, entity, "head") for x in range(scorer.num_entities)]
    return scores[other] - log(sum(exp(score) for score in scores))


def ahead(scorer, beam, relation):
    """Step from a beam {entity: (figure, triples)} to every entity."""
    return {
        x: max(
            (figure + share(scorer, e, relation, x), [*way, (e, relation, x)])
            for e, (figure, way) in beam.items()
        )
        for x in range(scorer.num_entities)
    }


def kept(beam, width):
    return dict(sorted(beam.items(), key=lambda item: -item[1][0])[:width])


def searched(scorer, kind, anchors, relations, width):
    """Search by hand: {entity: (figure, triples)} for each of the last steps."""
    starts = [{int(anchor): (0.0, [])} for anchor in anchors]
    if not kind.after:
        for number, columns in enumerate(kind.branch_columns):
            for column in columns[:-1]:
                starts[number] = kept(ahead(scorer, starts[number], relations[column]), width)
        return starts
    one, two = (ahead(scorer, s, r) for s, r in zip(starts, relations, strict=False))
    if kind.join == "or":
        return [kept({x: max(one[x], two[x]) for x in one}, width)]
    met = {x: (one[x][0] + two[x][0], one[x][1] + two[x][1]) for x in one}
    return [kept(met, width)]


@pytest.mark.parametrize("kind", BETWEEN, ids=lambda kind: kind.name)
@pytest.mark.parametrize("width", [1, 3, 9])
def test_intermediates_are_the_best_by_the_definition(kind, width):
    scorer = random_scorer(6, RELATIONS, seed=width, inverse=True)
    anchors, relations = random_queries(kind, scorer_graph(scorer), 20, width)
    reached = Beam(scorer, width).reach(kind, anchors, relations)
    assert len(reached) == len(kind.last_columns)
    for query in range(20):
        expected = searched(scorer, kind, anchors[query], relations[query].tolist(), width)
        for ends, best in zip(reached, expected, strict=True):
            places = np.flatnonzero(ends.query == query)
            assert set(ends.entity[places].tolist()) == set(best)
            assert (ends.num_paths[places] == 1).all()
            if any(way for _, way in best.values()):
                found = list_paths(ends, places, np.zeros(len(places), dtype=np.int64))
                ways = {
                    int(e): list(map(tuple, c))
                    for e, c in zip(ends.entity[places], found.tolist(), strict=True)
                }
                assert ways == {x: way for x, (_, way) in best.items()}


def scorer_graph(scorer):
    return small_graph([(0, 0, 0)], entities=scorer.num_entities, relations=RELATIONS)


@settings(max_examples=3)
@given(graphs(entities=5), st.integers(0, 100))
def test_true_and_false_paths_share_the_beam_and_end_in_their_answers(graph, seed):
    scorer = random_scorer(5, RELATIONS, seed)
    asked = draw_queries(graph, QuerySampling(("1p", "2u", "3p", "pi", "ip", "up"), 2, seed=seed))
    plain = query_instances(graph, asked, AnswerSampling(seed=seed))
    made = query_instances(graph, asked, AnswerSampling(seed=seed, beam=Beam(scorer, 3)))
    assert made.table[["question", "answer"]].equals(plain.table[["question", "answer"]])
    for name, part in made.triples.groupby("group", sort=False):
        if not QUERY_TYPES[name].has_intermediates:
            ids = ["head", "relation", "tail"]
            other = plain.triples[plain.triples["group"] == name]
            assert np.array_equal(part[ids], other[ids])
            continue
        for row in made.table[made.table["group"] == name].to_dict("records"):
            own = part[part["instance"] == row["instance"]]
            assert own["grounding"].nunique() == row["groundings"] == 3
            ending = own[own["is_answer_triple"]]
            ends = np.where(ending["predicted_side"] == "head", ending["head"], ending["tail"])
            assert {f"e{end}" for end in ends} == {row["answer"]}


def test_infinite_scores_keep_their_order():
    tails = np.zeros((3, RELATIONS, 3))
    tails[0, 0] = [-inf, inf, 0.0]
    tails[1, 0] = tails[2, 0] = [1.0, 0.0, 2.0]
    kind, asked = QUERY_TYPES["2p"], (np.array([[0]]), np.array([[0, 0]]))
    best = [Beam(FakeScorer(tails), width).reach(kind, *asked)[0].entity for width in (1, 2, 3)]
    assert [e.tolist() for e in best[:1]] == [[1]]
    assert [len(e) for e in best] == [1, 2, 3]


def test_a_score_that_is_no_number_is_refused():
    tails = np.zeros((3, RELATIONS, 3))
    tails[0, 0, 1] = np.nan
    with pytest.raises(KgdashError, match="NaN"):
        Beam(FakeScorer(tails)).reach(QUERY_TYPES["2p"], np.array([[0]]), np.array([[0, 0]]))


def test_a_beam_keeps_at_least_one():
    with pytest.raises(KgdashError, match="at least one entity; found a width of 0"):
        Beam(random_scorer(3, RELATIONS), 0)


def test_intermediates_come_from_the_graph_or_the_model():
    scorer = random_scorer(3, RELATIONS)
    assert beam_for(scorer, "graph", 0) is None
    assert beam_for(scorer, "model", 4) == Beam(scorer, 4)
    with pytest.raises(KgdashError, match="unknown source of intermediates 'models'"):
        beam_for(scorer, "models")


def test_scores_are_asked_for_as_the_ends_are():
    """Backwards steps are scored as heads, which models with inverse relations score apart."""
    scorer = random_scorer(4, RELATIONS, seed=3, inverse=True)
    kind = QUERY_TYPES["2p"]
    ends = Beam(scorer, 1).reach(kind, np.array([[2]]), np.array([[RELATIONS + 1, 0]]))[0]
    scores = score_rows(scorer, "head", np.array([[1, 2]]))
    assert ends.entity.tolist() == [int(scores.argmax())]
