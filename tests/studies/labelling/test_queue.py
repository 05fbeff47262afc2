"""What is to be judged, by which rules, and in which order."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.studies.labelling.events import RuleGroundings
from kgdash.studies.labelling.journal import journal_file
from kgdash.studies.labelling.queue import ORDERS, in_labels, label_queue, named_triple, triple_ids
from kgdash.studies.labelling.session import judge
from kgdash.studies.labelling.sources import predictions_to_judge
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.selection import RuleSelection
from tests.support.instance_fakes import small_graph
from tests.support.labelling import GRAPH, TWENTY, Run


def test_of_many_instances_that_predict_one_triple_some_are_shown_and_kept(queue):
    table = pd.concat([queue.table.head(1)] * 1000, ignore_index=True)
    many = replace(queue, table=table)
    triple = named_triple(table[["head", "relation", "tail"]].iloc[0], queue.graph)
    assert len(many.instances_of(triple)) == 200
    assert len(many.groundings(triple)) == 200


def test_of_many_ways_on_which_one_triple_is_predicted_some_are_kept(queue, monkeypatch):
    """A click wrote 196 MB of a table of 130,000 rows."""
    (instance, group), *_ = queue.table[["instance", "group"]].to_numpy()
    body = queue.triples[queue.triples["instance"] == instance]
    ways = pd.concat([body.assign(grounding=way) for way in range(2_000)], ignore_index=True)
    table = queue.table[queue.table["instance"] == instance].head(1)
    triple = named_triple(table[["head", "relation", "tail"]].iloc[0], queue.graph)
    many = replace(queue, table=table, triples=ways)
    ((rule, kept),) = [(each.rule, each.groundings) for each in many.groundings(triple)]
    assert (rule, len(kept)) == (group, 1_000)
    twice = replace(many, table=pd.concat([table] * 4, ignore_index=True))
    assert [len(each.groundings) for each in twice.groundings(triple)] == [250] * 4


def test_what_is_too_long_to_be_kept_with_a_label_is_refused(queue, monkeypatch):
    """Of a body of 44,000 triples with long names a click took 1.7 GB."""
    triple = queue.order[0]
    kept = queue.groundings(triple)
    names = [each.rule for each in kept]
    names += [name for each in kept for body in each.groundings for t in body for name in t]
    letters = sum(map(len, names))
    monkeypatch.setattr("kgdash.studies.labelling.queue._LETTERS", letters)
    assert queue.groundings(triple) == kept
    monkeypatch.setattr("kgdash.studies.labelling.queue._LETTERS", letters - 1)
    with pytest.raises(KgdashError, match=r"or more, of .* characters; with a label 10,000 of"):
        judge(queue, triple, True)
    monkeypatch.undo()
    monkeypatch.setattr("kgdash.studies.labelling.queue._TRIPLES", 1)
    with pytest.raises(KgdashError, match="by 3 triples or more"):
        judge(queue, triple, True)
    assert not journal_file(queue.graph).exists()


def test_a_queue_holds_what_rules_predict_and_nobody_knows(queue):
    # r0(a, h) ∧ r0(h, b) ⇒ r1(a, b) predicts (3, 1, 5), which test has, and (4, 1, 6).
    rule = "?a  r0  ?h  ?h  r0  ?b   => ?a  r1  ?b"
    of_rule = queue.table[queue.table["group"] == rule]
    assert of_rule[["head", "relation", "tail"]].to_numpy().tolist() == [[4, 1, 6]]
    shown = queue.shown(int(of_rule["instance"].item()))
    assert shown["head"].tolist() == ["e4", "e5", "e4"]
    assert shown["tail"].tolist() == ["e5", "e6", "e6"]
    assert shown["split"].tolist() == ["train", "train", "none"]
    ids = np.array([[4, 0, 5], [5, 0, 6], [4, 1, 6]])
    expected = Run().relik(triples=ids)["relik"].to_numpy()
    np.testing.assert_array_equal(shown["relik"], expected)
    assert of_rule["relik"].item() == expected.mean()
    groundings = queue.groundings(("e4", "r1", "e6"))
    assert RuleGroundings(rule, ((("e4", "r0", "e5"), ("e5", "r0", "e6")),)) in groundings
    assert len(groundings) == len(queue.instances_of(("e4", "r1", "e6")))
    known = GRAPH.known()
    assert not known.contains(np.array([triple_ids(t, GRAPH) for t in queue.order])).any()
    assert len(set(queue.order)) == len(queue.order)


def test_rules_of_a_file_and_verified_negatives(queue):
    rule = "?a  r0  ?h  ?h  r0  ?b   => ?a  r1  ?b"
    file = RuleFile(f"rule\n{rule}\n".encode())
    found = predictions_to_judge(GRAPH, RuleSelection(min_pca=0.1, per_rule=9), file)
    triples = found.table[["head", "relation", "tail"]].to_numpy()
    assert triples.tolist() == [[4, 1, 6]]
    assert found.table["group"].tolist() == [rule]
    for predictions in (
        predictions_to_judge(GRAPH, RuleSelection(), file, triples),
        predictions_to_judge(GRAPH, TWENTY, negatives=triples),
    ):
        assert [4, 1, 6] not in predictions.table[["head", "relation", "tail"]].to_numpy().tolist()


def test_orders():
    predictions = predictions_to_judge(GRAPH, TWENTY)
    queues = {order: label_queue(Run(), predictions, order, seed=3) for order in ORDERS}
    assert len({frozenset(queue.order) for queue in queues.values()}) == 1
    relik = {
        triple: queues["random"].instances_of(triple)["relik"].max()
        for triple in queues["random"].order
    }
    assert len(set(relik.values())) > 2
    for order, sign in (("least reliable first", 1), ("most reliable first", -1)):
        values = [sign * relik[triple] for triple in queues[order].order]
        assert values == sorted(values)
    again = label_queue(Run(), predictions, "random", seed=3)
    assert again.order == queues["random"].order
    assert len({label_queue(Run(), predictions, "random", seed=s).order for s in range(5)}) > 1
    with pytest.raises(KgdashError, match="unknown order"):
        label_queue(Run(), predictions, "backwards")


def test_nothing_to_judge_is_said():
    complete = small_graph([(0, 0, 1), (0, 1, 1)], entities=2, relations=2)
    with pytest.raises(KgdashError, match="no prediction to judge"):
        label_queue(Run(), predictions_to_judge(complete, TWENTY))


def test_names_and_labels():
    graph = replace(GRAPH, entity_labels=("zero", *GRAPH.entity_labels[1:]))
    assert named_triple([0, 1, 2], graph) == ("e0", "r1", "e2")
    assert in_labels(("e0", "r1", "e2"), graph) == "zero — r1 → e2"
    assert json.loads(json.dumps(named_triple(np.array([0, 1, 2]), graph))) == ["e0", "r1", "e2"]
