"""Labels given by people: what follows from events, the journal on disk, and what comes of it."""

import json
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.lock import hold_lock
from kgdash.studies.instances.instance_table import read_rule_table, write_rule_table
from kgdash.studies.instances.instances import make_instances, score_instances
from kgdash.studies.labelling.events import LABEL, SKIP, UNDO, Event, Labelling, RuleGroundings
from kgdash.studies.labelling.journal import add_event, journal_file, read_journal
from kgdash.studies.labelling.queue import ORDERS, in_labels, label_queue, named_triple, triple_ids
from kgdash.studies.labelling.results import (
    instances_of_labels,
    label_table,
    labelled_instances,
)
from kgdash.studies.labelling.session import judge, remove, skip, undo
from kgdash.studies.labelling.sources import (
    instance_predictions,
    predictions_to_judge,
)
from kgdash.studies.rules.files import RuleFile
from kgdash.studies.rules.selection import RuleSelection
from tests.support.instance_fakes import FakeRun, small_graph

#: 0 -r0-> 1 -r0-> 2 …; r1 holds for some pairs two steps apart, r2 for some one step back
GRAPH = small_graph(
    [
        *((i, 0, i + 1) for i in range(6)),
        *((i, 1, i + 2) for i in range(3)),
        *((i + 1, 2, i) for i in range(3)),
    ],
    test=[(3, 1, 5)],
    entities=8,
    relations=3,
)
TWENTY = RuleSelection(20, min_pca=0.1, per_rule=10)
TRIPLES = [(f"e{i}", "r1", "e7") for i in range(4)]


class Run(FakeRun):
    graph = GRAPH


# -- what follows from events


class Plain:
    """The same by stacks: what each person did and did not take back, in one list."""

    def __init__(self):
        self.acts = []

    def do(self, event):
        if event.kind == UNDO:
            self.acts = [act for act in self.acts if act[0] != event.of]

    def decides(self, triple):
        of = [event for _, event in self.acts if event.triple == triple]
        return of[-1] if of else None


_STEPS = st.lists(
    st.tuples(
        st.sampled_from([LABEL, SKIP, UNDO]),
        st.sampled_from(TRIPLES),
        st.booleans(),
        st.sampled_from(["", "Ann"]),
    ),
    max_size=20,
)


def played(steps):
    """Yield each event with the state after it and what a plain list of acts says."""
    state, plain = Labelling(), Plain()
    for kind, triple, label, by in steps:
        if kind == UNDO:
            mine = [number for number, event in plain.acts if event.by == by]
            assert state.latest(by) == (mine[-1] if mine else None)
            if not mine:
                continue
            event = Event(UNDO, of=mine[-1], by=by)
            plain.do(event)
        else:
            event = Event(kind, triple, label if kind == LABEL else None, by=by)
            plain.acts.append((len(state.events), event))
        state = state.then(event)
        yield event, state, plain


@given(_STEPS)
def test_any_sequence_says_what_a_plain_list_says(steps):
    events = []
    for event, state, plain in played(steps):
        events.append(event)
        assert state == Labelling.replay(events)
        acts = [plain.decides(triple) for triple in TRIPLES]
        assert [state.label_of(triple) for triple in TRIPLES] == [a and a.label for a in acts]
        kinds = [act.kind for act in acts if act]
        assert state.progress(TRIPLES) == (kinds.count(LABEL), kinds.count(SKIP))
        untouched = [t for t, act in zip(TRIPLES, acts, strict=True) if act is None]
        skipped = [
            a.triple for _, a in plain.acts if a.kind == SKIP and a is plain.decides(a.triple)
        ]
        assert state.open(TRIPLES) == next(iter([*untouched, *skipped]), None)
        labels = [a for _, a in plain.acts if a.kind == LABEL and a is plain.decides(a.triple)]
        assert [*state.labels().values()] == labels


# -- the journal


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("KGDASH_DATA", str(tmp_path))


_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
_NAMED = st.tuples(_NAMES, _NAMES, _NAMES)
_GROUNDINGS = st.builds(
    RuleGroundings, _NAMES, st.lists(st.lists(_NAMED, max_size=2).map(tuple), max_size=2).map(tuple)
)
_EVENTS = st.lists(
    st.builds(
        Event,
        st.just(LABEL),
        _NAMED,
        st.booleans(),
        st.none(),
        st.lists(_GROUNDINGS, max_size=2).map(tuple),
        _NAMES,
        _NAMES,
    )
    | st.builds(Event, st.just(SKIP), _NAMED, by=_NAMES, at=_NAMES),
    max_size=4,
)


@settings(max_examples=25)
@given(_EVENTS)
def test_the_journal_gives_back_what_was_added(events):
    journal_file(GRAPH).unlink(missing_ok=True)
    state = Labelling()
    for number, event in enumerate(events):
        state = add_event(GRAPH, event)
        assert state == read_journal(GRAPH)
        state = add_event(GRAPH, Event(UNDO, of=2 * number, by="x"))
    assert [event for event in state.events if event.kind != UNDO] == events
    assert read_journal(GRAPH) == state
    assert state.labels() == {}


def test_a_torn_line_is_all_that_is_lost():
    events = [Event(SKIP, triple) for triple in TRIPLES[:2]]
    for event in events:
        add_event(GRAPH, event)
    path = journal_file(GRAPH)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last, last + 1, last + 20, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert read_journal(GRAPH).events == tuple(events[:1])
        assert add_event(GRAPH, events[1]).events == tuple(events)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:5])
    assert add_event(GRAPH, events[1]).events == tuple(events[1:])


def test_a_lock_of_a_process_that_died_goes_at_the_next_look():
    """Its labels are all there, so that nothing is written any more."""
    add_event(GRAPH, Event(SKIP, TRIPLES[0]))
    lock = journal_file(GRAPH).with_suffix(".lock")
    lock.touch()
    read_journal(GRAPH)
    assert not lock.exists()
    with hold_lock(lock):
        read_journal(GRAPH)
        assert lock.exists()


def test_several_at_once_lose_nothing():
    def work(by):
        for triple in TRIPLES:
            add_event(GRAPH, Event(SKIP, triple, by=by))

    threads = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_journal(GRAPH).events
    assert len(events) == len(threads) * len(TRIPLES)
    for i in range(4):
        assert [event.triple for event in events if event.by == f"p{i}"] == TRIPLES


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"event":"label","triple":["a","b","c"],"groundings":[]}', "line 3"),
        ('{"event":"label","triple":["a","b"],"label":true,"groundings":[]}', "line 3"),
        ('{"event":"label","triple":["a","b","c"],"label":1,"groundings":[]}', "line 3"),
        ('{"event":"skip","triple":["a","b",3]}', "line 3"),
        ('{"event":"skip"}', "line 3"),
        ('{"event":"undo","of":1}', "line 3"),
        ('{"event":"undo","of":-1}', "line 3"),
        ('{"event":"undo"}', "line 3"),
        ('{"event":"shout"}', "line 3"),
        ('{"event":"skip","triple":["a","b","c"],"by":3}', "line 3"),
        ("{", "not valid JSON"),
        ("[]", "line 3"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_other_lines_are_refused(line, said):
    add_event(GRAPH, Event(SKIP, TRIPLES[0]))
    with journal_file(GRAPH).open("a") as stream:
        stream.write(line + "\n")
    for act in (lambda: read_journal(GRAPH), lambda: add_event(GRAPH, Event(SKIP, TRIPLES[0]))):
        with pytest.raises(KgdashError) as caught:
            act()
        assert said in str(caught.value)
        assert "remove the line" in str(caught.value)
        assert str(journal_file(GRAPH)) in str(caught.value)


def test_another_file_is_refused_and_stays(tmp_path):
    path = journal_file(GRAPH)
    path.parent.mkdir()
    path.write_text('{"format":"other"}\n')
    with pytest.raises(KgdashError, match="move it away"):
        add_event(GRAPH, Event(SKIP, TRIPLES[0]))
    assert path.read_text() == '{"format":"other"}\n'
    path.unlink()
    path.mkdir()
    with pytest.raises(KgdashError, match=r"can not (read|write)"):
        add_event(GRAPH, Event(SKIP, TRIPLES[0]))


def test_graphs_do_not_share_a_journal():
    add_event(GRAPH, Event(SKIP, TRIPLES[0]))
    other = small_graph([(0, 0, 1)])
    assert read_journal(other) == Labelling()


# -- the queue


@pytest.fixture
def queue():
    return label_queue(Run(), predictions_to_judge(GRAPH, TWENTY), "by rule")


def test_of_many_instances_that_predict_one_triple_some_are_shown_and_kept(queue):
    table = pd.concat([queue.table.head(1)] * 1000, ignore_index=True)
    many = replace(queue, table=table)
    triple = named_triple(table[["head", "relation", "tail"]].iloc[0], queue.graph)
    assert len(many.instances_of(triple)) == 200
    assert len(many.groundings(triple)) == 200


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


# -- what comes of it


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


def test_names_and_labels():
    graph = replace(GRAPH, entity_labels=("zero", *GRAPH.entity_labels[1:]))
    assert named_triple([0, 1, 2], graph) == ("e0", "r1", "e2")
    assert in_labels(("e0", "r1", "e2"), graph) == "zero — r1 → e2"
    assert json.loads(json.dumps(named_triple(np.array([0, 1, 2]), graph))) == ["e0", "r1", "e2"]
