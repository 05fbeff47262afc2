"""Judging, passing over and taking back, and the instances that come of it."""

from dataclasses import replace

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.instances.instance_table import read_rule_table, write_rule_table
from kgdash.studies.instances.instances import make_instances, score_instances
from kgdash.studies.labelling.events import LABEL, Event, Labelling, RuleGroundings
from kgdash.studies.labelling.queue import in_labels, label_queue, named_triple
from kgdash.studies.labelling.results import (
    instances_of_labels,
    label_table,
    labelled_instances,
    labelled_rule_table,
)
from kgdash.studies.labelling.session import judge, remove, skip, undo
from kgdash.studies.labelling.sources import instance_predictions, predictions_to_judge
from tests.support.instance_fakes import FakeRun
from tests.support.labelling import GRAPH, TWENTY, Run


def test_judged_skipped_and_taken_back(queue):
    first, second, third = queue.order[:3]
    judge(queue, first, True, "Ann")
    judge(queue, second, False)
    skip(queue, third, "Ann")
    state = judge(queue, first, True, "Bob")  # says what holds already
    assert len(state.events) == 3
    assert state.progress(queue.order) == (2, 1)
    table = label_table(state, GRAPH)
    assert table["prediction"].tolist() == [in_labels(second, GRAPH), in_labels(first, GRAPH)]
    assert table["label"].tolist() == ["false", "true"]
    assert table["by"].tolist() == ["", "Ann"]
    assert (pd.to_datetime(table["at"]) <= pd.Timestamp.now("UTC")).all()
    assert [(event.triple, event.label) for event in state.labels().values()] == [
        (first, True),
        (second, False),
    ]
    assert undo(GRAPH, "Ann").progress(queue.order) == (2, 0)
    assert undo(GRAPH, "Ann").progress(queue.order) == (1, 0)
    assert undo(GRAPH, "Ann").progress(queue.order) == (1, 0)
    state = remove(GRAPH, [1, 1, *range(-5, 900)], "Ann")
    assert state.progress(queue.order) == (0, 0)
    assert len(state.events) == 6, "what is taken back already is passed by"
    with pytest.raises(KgdashError, match=r"no prediction on graph .* has a label yet"):
        labelled_instances(Run())


def test_labels_become_instances_and_a_table_that_is_read_back(queue):
    for number, triple in enumerate(queue.order):
        state = judge(queue, triple, number % 2 == 0, "Ann")
    found = labelled_instances(Run())
    assert found.notes == (f"{len(queue.order)} predictions labelled by Ann",)
    predictions = predictions_to_judge(GRAPH, TWENTY)
    labels = [
        state.label_of(named_triple(row, GRAPH))
        for row in predictions.table[["head", "relation", "tail"]].to_numpy()
    ]
    label = predictions.triples["instance"].map(dict(enumerate(labels)))
    about = predictions.table[["instance", "question", "answer"]]
    expected = make_instances(predictions.triples.assign(label=label), about)
    columns = ["group", "label", "grounding", "head", "relation", "tail", "is_answer_triple"]

    def listed(triples):
        return sorted(map(tuple, triples[columns].to_numpy().tolist()))

    assert listed(found.triples) == listed(expected.triples)
    assert sorted(found.table["question"]) == sorted(expected.table["question"])
    written = write_rule_table(found, GRAPH)
    assert labelled_rule_table(GRAPH) == written
    with pytest.raises(KgdashError, match="more than 10 bytes"):
        labelled_rule_table(GRAPH, most=10)
    again = read_rule_table(written.encode(), GRAPH)
    pd.testing.assert_frame_equal(again.triples, found.triples)
    assert len(score_instances(FakeRun(), found).table) == len(found)


def test_instances_can_be_judged_anew(queue):
    for triple in queue.order:
        judge(queue, triple, True)
    instances = labelled_instances(Run())
    anew = label_queue(Run(), instance_predictions(instances), "by rule")
    assert set(anew.order) == set(queue.order)
    for triple in anew.order:
        state = judge(anew, triple, False, "Bob")
    flipped = instances_of_labels(state, GRAPH)
    assert not flipped.table["label"].any()
    assert len(flipped) == len(instances)


def test_what_a_rule_says_again_counts_once():
    """A rule that a journal names twenty times was twenty instances."""
    one, other = ("e0", "r0", "e1"), ("e1", "r0", "e2")
    triple = ("e0", "r1", "e2")
    said = [
        RuleGroundings("A", ((one, other), (other,))),
        RuleGroundings("A", ((("E1", "r0", "E2"),), (other, one, triple), (other,))),
        RuleGroundings("A", ((one, other),)),
        RuleGroundings("B", ((one, other), (other,))),
    ]
    state = Labelling.replay([Event(LABEL, triple, True, groundings=tuple(said))])
    found = instances_of_labels(state, GRAPH)
    assert found.table["group"].tolist() == ["A", "A", "B"]
    assert found.table["groundings"].tolist() == [2, 1, 2]
    again = read_rule_table(write_rule_table(found, GRAPH).encode(), GRAPH)
    pd.testing.assert_frame_equal(again.triples, found.triples)


def test_rules_whose_variables_have_other_names_are_one():
    rule, other = "?x  r0  ?y   => ?x  r1  ?y", "?c  r0  ?d   => ?c  r1  ?d"
    body = (("e0", "r0", "e2"),)
    events = [
        Event(LABEL, ("e0", "r1", "e2"), True, groundings=(RuleGroundings(rule, (body,)),) * 2),
        Event(LABEL, ("e1", "r1", "e2"), True, groundings=(RuleGroundings(other, ()),)),
        Event(
            LABEL,
            ("e2", "r1", "e2"),
            True,
            groundings=tuple(RuleGroundings(each, ()) for each in (other, rule, "mine")),
        ),
    ]
    found = instances_of_labels(Labelling.replay(events), GRAPH)
    assert found.table["group"].tolist() == [rule, rule, rule, "mine"]


def test_answers_of_one_label_are_told_apart():
    graph = replace(GRAPH, entity_labels=("same",) * GRAPH.num_entities)
    shown = (RuleGroundings("A", ()),)
    events = [Event(LABEL, ("e0", "r1", end), True, groundings=shown) for end in ("e1", "e2")]
    found = instances_of_labels(Labelling.replay(events), graph)
    assert found.table["answer"].tolist() == ["same (e1)", "same (e2)"]
