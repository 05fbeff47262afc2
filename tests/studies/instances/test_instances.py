from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.runs.loading import load
from kgdash.studies.instances.instances import (
    TRIPLE_COLUMNS,
    instance_triples,
    make_instances,
    score_instances,
    tail_question,
)
from kgdash.studies.queries.query_types import QUERY_TYPES, question
from kgdash.studies.queries.sampling import QuerySampling
from kgdash.studies.queries.sources import sample_queries
from tests.support.instance_fakes import FakeRun, small_graph


def rows(*values):
    return pd.DataFrame(values, columns=[c for c in TRIPLE_COLUMNS if c != "predicted_side"])


def described(*numbers):
    return pd.DataFrame(
        [(n, f"question {n}", f"answer {n}") for n in numbers],
        columns=["instance", "question", "answer"],
    )


#: two groundings for a true answer, one for a false one; they share the triple (0, 0, 1)
TWO = rows(
    ("2p", 7, 0, True, 0, 0, 1, False),
    ("2p", 7, 0, True, 1, 1, 2, True),
    ("2p", 7, 1, True, 0, 0, 3, False),
    ("2p", 7, 1, True, 3, 1, 2, True),
    ("2p", 9, 0, False, 0, 0, 1, False),
    ("2p", 9, 0, False, 1, 1, 0, True),
)


def test_instances_and_groundings_are_numbered_anew_in_order():
    made = make_instances(TWO.assign(grounding=[4, 4, 6, 6, 2, 2]), described(9, 7))
    assert made.triples["instance"].tolist() == [0, 0, 0, 0, 1, 1]
    assert made.triples["grounding"].tolist() == [0, 0, 1, 1, 0, 0]
    assert made.table["question"].tolist() == ["question 7", "question 9"]
    assert made.table["groundings"].tolist() == [2, 1]
    assert made.counts().to_dict("records") == [
        {"group": "2p", "n_false": 1, "n_true": 1, "groundings": 3}
    ]


def test_a_triple_twice_in_a_grounding_is_kept_once_and_still_gives_the_answer():
    there = ("3p", 0, 0, True, 1, 0, 2)
    back = ("3p", 0, 0, True, 2, 0, 1, False)
    made = make_instances(rows((*there, False), back, (*there, True)), described(0))
    assert made.triples["head"].tolist() == [2, 1]
    assert made.triples["is_answer_triple"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (TWO.assign(label=[True, True, True, False, False, False]), "several groups or labels"),
        (TWO.assign(is_answer_triple=False), "gives the answer"),
    ],
)
def test_what_can_not_be_instances_is_refused(spoilt, message):
    with pytest.raises(KgdashError, match=message):
        make_instances(spoilt, described(7, 9))


def test_figures_worked_by_hand():
    scored = score_instances(FakeRun(), make_instances(TWO, described(7, 9)))
    # ReliK is 1 / (1 + h + 2 r + 4 t); ranks are 1 + tail and 1 + relation.
    relik = {(0, 0, 1): 1 / 5, (1, 1, 2): 1 / 12, (0, 0, 3): 1 / 13, (3, 1, 2): 1 / 14}
    first, second = (relik[0, 0, 1] + relik[1, 1, 2]) / 2, (relik[0, 0, 3] + relik[3, 1, 2]) / 2
    true = scored.table.iloc[0]
    assert true["relik_max"] == pytest.approx(max(first, second))
    assert true["relik_mean"] == pytest.approx((first + second) / 2)
    assert true["relik_answer_max"] == pytest.approx(1 / 12)
    assert true["relik_answer_mean"] == pytest.approx((1 / 12 + 1 / 14) / 2)
    rr = {(0, 0, 1): (1 / 2 + 1) / 2, (1, 1, 2): (1 / 3 + 1 / 2) / 2, (0, 0, 3): (1 / 4 + 1) / 2}
    assert scored.triples["reciprocal_rank"].iloc[0] == pytest.approx(rr[0, 0, 1])
    assert true["reciprocal_rank_max"] == pytest.approx((rr[0, 0, 1] + rr[1, 1, 2]) / 2)
    assert true["reciprocal_rank_answer_max"] == pytest.approx(rr[1, 1, 2])


def test_groundings_are_counted_by_the_triples_that_are_measured():
    """All groundings of a rule share its head: of that alone there is one value, not ten."""
    body = [(0, 0, 1), (0, 0, 3), (0, 0, 5), (0, 0, 3)]
    parts = [(place, of) for place, first in enumerate(body) for of in (first, (0, 1, 2))]
    table = rows(*(("r", 7, place, True, *of, of == (0, 1, 2)) for place, of in parts))
    found = score_instances(FakeRun(), make_instances(table, described(7))).table
    assert found[["groundings", "distinct", "distinct_answer"]].to_numpy().tolist() == [[4, 3, 1]]
    both = score_instances(FakeRun(), make_instances(TWO, described(7, 9))).table
    assert both["distinct"].tolist() == [2, 1]
    assert both["distinct_answer"].tolist() == [2, 1]


def test_an_end_that_is_asked_for_backwards_has_the_rank_of_the_head():
    both = TWO.assign(predicted_side=["tail", "head", "tail", "tail", "tail", "head"])
    scored = score_instances(FakeRun(), make_instances(both, described(7, 9))).triples
    ends = np.where(scored["predicted_side"] == "head", scored["head"], scored["tail"])
    assert np.allclose(scored["entity_rr"], 1 / (1 + ends))
    assert scored["predicted_side"].value_counts().to_dict() == {"tail": 4, "head": 2}
    plain = score_instances(FakeRun(), make_instances(TWO, described(7, 9))).triples
    assert np.allclose(plain["entity_rr"], 1 / (1 + plain["tail"]))


def test_scores_are_the_model_s_own_and_averaged_as_all_else():
    scored = score_instances(FakeRun(), make_instances(TWO, described(7, 9)))
    score = 10 * scored.triples["head"] - scored.triples["tail"]
    assert np.allclose(scored.triples["score"], score)
    assert scored.table["score_max"].tolist() == [pytest.approx((-3 + 28) / 2), 4.5]
    assert scored.table["score_answer_mean"].tolist() == [(8 + 28) / 2, 10.0]


def test_each_distinct_triple_is_scored_once():
    run, calls = FakeRun(), []
    score_instances(run, make_instances(TWO, described(7, 9)), lambda d, t: calls.append((d, t)))
    assert [len(asked) for asked in run.asked] == [5, 5]
    assert run.scorer.calls == 1
    assert calls[-1][0] == calls[-1][1]


def test_nothing_to_score_says_why():
    empty = make_instances(rows(), described(), ["the graph is too small"])
    assert len(empty) == 0
    assert empty.counts().empty
    with pytest.raises(KgdashError, match="no instances to score; the graph is too small"):
        score_instances(FakeRun(), empty)


def test_an_instance_s_triples_in_labels_with_split_and_figures():
    graph = small_graph([(0, 0, 1), (3, 1, 2), (0, 0, 3)], test=[(1, 1, 2)])
    scored = score_instances(FakeRun(), make_instances(TWO, described(7, 9)))
    read = instance_triples(graph, scored.triples, 0)
    assert read[["head", "relation", "tail"]].iloc[1].tolist() == ["e1", "r1", "e2"]
    assert read["split"].tolist() == ["train", "test", "train", "train"]
    assert read["is_answer_triple"].tolist() == [False, True, False, True]
    assert "relik" in read
    assert instance_triples(graph, scored.triples, 1)["split"].tolist() == ["train", "none"]
    with pytest.raises(KgdashError, match="no instance 2; expected a number from 0 to 1"):
        instance_triples(graph, scored.triples, 2)


def test_a_real_run_scores_queries():
    run = load("umls-transe")
    scored = score_instances(
        run, sample_queries(run.graph, QuerySampling(("2p", "2i"), per_type=5))
    )
    figures = scored.table.filter(regex="_(max|mean)$")
    assert figures.shape == (20, 12)
    shares = figures.filter(regex="^re")
    assert ((shares > 0) & (shares <= 1)).all().all()
    assert np.isfinite(figures).all().all()
    assert (scored.table["relik_max"] >= scored.table["relik_mean"]).all()
    # An intersection's triples all give the answer.
    both = scored.table[scored.table["group"] == "2i"]
    assert np.allclose(both["relik_max"], both["relik_answer_max"])


def test_a_triple_s_rank_does_not_depend_on_the_false_ones_ranked_with_it():
    run = load("umls-transe")
    scored = score_instances(run, sample_queries(run.graph, QuerySampling(("1p",), per_type=50)))
    facts = scored.triples[scored.triples["label"]]
    rows = facts[["head", "relation", "tail"]].to_numpy()
    alone = run.ranks(triples=rows, sides=("tail",))["realistic"].to_numpy()
    assert np.allclose(facts["entity_rr"], 1 / alone)


def test_heads_of_one_label_are_asked_about_in_questions_of_their_own():
    """Intervals resample questions: those of two entities were one where they share a label."""
    graph = replace(small_graph([(0, 0, 1), (2, 0, 1)]), entity_labels=("Paris", "x", "Paris"))
    assert tail_question(graph, 0, 0) == "r0(Paris (e0), ?)"
    assert tail_question(graph, 1, 0) == "r0(x, ?)"
    texts = [question(graph, QUERY_TYPES["1p"], [anchor], [0]) for anchor in (0, 2)]
    assert texts == ["r0(Paris (e0), ?)", "r0(Paris (e2), ?)"]
