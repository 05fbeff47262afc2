"""Judging, passing over and taking back, and the instances that come of it."""

import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.instances.instance_table import read_rule_table, write_rule_table
from kgdash.studies.instances.instances import make_instances, score_instances
from kgdash.studies.labelling.queue import in_labels, label_queue, named_triple
from kgdash.studies.labelling.results import instances_of_labels, label_table, labelled_instances
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
    state = remove(GRAPH, 1, "Ann")
    assert state.progress(queue.order) == (0, 0)
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
    again = read_rule_table(write_rule_table(found, GRAPH).encode(), GRAPH)
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
