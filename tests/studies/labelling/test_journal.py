"""The journal of labels: nothing is lost but a line cut short, and other files are refused."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files.lock import hold_lock
from kgdash.studies.labelling import journal
from kgdash.studies.labelling.events import LABEL, SKIP, UNDO, Event, Labelling, RuleGroundings
from kgdash.studies.labelling.journal import add_events, journal_file, read_journal
from tests.support.instance_fakes import small_graph
from tests.support.labelling import GRAPH, TRIPLES

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
        state = add_events(GRAPH, event)
        assert state == read_journal(GRAPH)
        state = add_events(GRAPH, Event(UNDO, of=2 * number, by="x"))
    assert [event for event in state.events if event.kind != UNDO] == events
    assert read_journal(GRAPH) == state
    assert state.labels() == {}


def test_a_triple_by_other_names_is_the_same_triple():
    """By its names in other cases, 16 predictions were 225."""
    graph = replace(GRAPH, entity_labels=("zero", "one", *GRAPH.entities[2:]))
    add_events(graph, Event(LABEL, ("e0", "r1", "e1"), True))
    path, lines = journal_file(graph), []
    for head, tail in (("E0", "e1"), ("zero", "One"), ("Zero", "E1")):
        lines.append(f'{{"event":"label","triple":["{head}","R1","{tail}"],"label":false,')
        lines.append('"groundings":[]}\n')
    path.write_text(path.read_text() + "".join(lines))
    for state in (read_journal(graph), add_events(graph, Event(SKIP, ("ONE", "r1", "zero")))):
        assert [*state.labels()] == [3]
        assert state.label_of(("e0", "r1", "e1")) is False
    assert state.progress([("e1", "r1", "e0")]) == (0, 1)
    assert '["e1","r1","e0"]' in path.read_text()
    assert add_events(graph, Event(UNDO, of=3)).labels().keys() == {2}


def test_a_torn_line_is_all_that_is_lost():
    events = [Event(SKIP, triple) for triple in TRIPLES[:2]]
    for event in events:
        add_events(GRAPH, event)
    path = journal_file(GRAPH)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last, last + 1, last + 20, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert read_journal(GRAPH).events == tuple(events[:1])
        assert add_events(GRAPH, events[1]).events == tuple(events)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:5])
    assert add_events(GRAPH, events[1]).events == tuple(events[1:])


def test_a_full_journal_takes_nothing_and_stays_readable(monkeypatch):
    event = Event(SKIP, TRIPLES[0])
    add_events(GRAPH, event)
    size = journal_file(GRAPH).stat().st_size
    monkeypatch.setattr(journal, "_MAX_BYTES", size + 5)
    with pytest.raises(KgdashError, match="is full: move it away"):
        add_events(GRAPH, event)
    assert journal_file(GRAPH).stat().st_size == size
    assert len(read_journal(GRAPH).events) == 1


def test_what_is_added_is_not_read_again(monkeypatch):
    """Each click read a journal of 8 MB three times: by 24 tabs others' pages took 12 s."""
    read = []
    plain = journal.to_event
    monkeypatch.setattr(journal, "to_event", lambda *given: read.append(1) or plain(*given))
    for number in range(4):
        state = add_events(GRAPH, Event(SKIP, TRIPLES[number]))
        assert read_journal(GRAPH) == state
    assert not read
    os.utime(journal_file(GRAPH), ns=(0, 0))
    assert read_journal(GRAPH) == state
    assert not read
    monkeypatch.setattr(journal, "_HELD", 1)
    other = small_graph([(0, 0, 1)])
    add_events(other, Event(SKIP, ("e0", "r0", "e1")))
    assert list(journal._kept) == [journal_file(other)]


def test_of_what_another_process_added_the_rest_is_read_once(monkeypatch):
    """Who looked between a write and what was kept of it read all, and kept it over the newer."""
    add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    path, plain, read = journal_file(GRAPH), journal.to_event, []
    add_events(GRAPH, Event(SKIP, TRIPLES[1]))
    line = path.read_bytes().splitlines(keepends=True)[-1]
    with path.open("ab") as stream:
        stream.write(line * 3 + line[:9])

    def slowly(*given):
        read.append(1)
        time.sleep(0.01)
        return plain(*given)

    monkeypatch.setattr(journal, "to_event", slowly)
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(lambda _: len(read_journal(GRAPH).events), range(8))]
    assert found == [5] * 8
    assert len(read) == 3
    assert len(add_events(GRAPH, Event(SKIP, TRIPLES[2])).events) == 6


def test_what_was_edited_is_read_anew():
    for number in range(3):
        add_events(GRAPH, Event(SKIP, TRIPLES[number]))
    path = journal_file(GRAPH)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:], *lines[2:]]))
    triples = [event.triple for event in read_journal(GRAPH).events]
    assert triples == [*map(tuple, (TRIPLES[1], TRIPLES[2]))] * 2
    path.write_bytes(b"".join(lines[:2]))
    assert len(read_journal(GRAPH).events) == 1


def test_its_state_is_another_once_there_are_more_labels():
    states = [journal.journal_state(GRAPH)]
    for number in range(2):
        add_events(GRAPH, Event(SKIP, TRIPLES[number]))
        assert journal.journal_state(GRAPH) == journal.journal_state(GRAPH)
        states.append(journal.journal_state(GRAPH))
    assert len(set(states)) == 3


def test_a_visitor_s_is_smaller_and_not_named(monkeypatch, as_visitor):
    """Each page that shows labels reads it all, four were held: 256 MiB each."""
    as_visitor(folder="ada")
    event = Event(SKIP, TRIPLES[0])
    add_events(GRAPH, event)
    path = journal_file(GRAPH)
    whole = path.read_bytes()
    path.write_bytes(b"{}\n")
    with pytest.raises(KgdashError, match=r"^the journal of your labels does not hold labels"):
        read_journal(GRAPH)
    path.write_bytes(whole)
    monkeypatch.setattr(journal, "_VISITORS", len(whole))
    with pytest.raises(KgdashError, match=r"^the journal of your labels is full"):
        add_events(GRAPH, event)


def test_a_lock_of_a_process_that_died_goes_at_the_next_look():
    """Its labels are all there, so that nothing is written any more."""
    add_events(GRAPH, Event(SKIP, TRIPLES[0]))
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
            add_events(GRAPH, Event(SKIP, triple, by=by))

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
    add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    with journal_file(GRAPH).open("a") as stream:
        stream.write(line + "\n")
    for act in (lambda: read_journal(GRAPH), lambda: add_events(GRAPH, Event(SKIP, TRIPLES[0]))):
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
        add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    assert path.read_text() == '{"format":"other"}\n'
    path.unlink()
    path.mkdir()
    with pytest.raises(KgdashError, match=r"can not (read|write)"):
        add_events(GRAPH, Event(SKIP, TRIPLES[0]))


def test_graphs_do_not_share_a_journal():
    add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    other = small_graph([(0, 0, 1)])
    assert read_journal(other) == Labelling()


@pytest.mark.parametrize(
    "content", [b"secret of 20 letters", b"{", b"\0\n", b'{"format":"other"}\n{']
)
@pytest.mark.parametrize("lay", ["symlink_to", "hardlink_to", "rename"])
def test_no_other_file_is_cut_or_added_to(tmp_path, content, lay):
    """A link in a journal's place had its target, of which no line was whole, cut to nothing."""
    other, path = tmp_path / "key", journal_file(GRAPH)
    other.write_bytes(content)
    path.parent.mkdir()
    getattr(other, lay)(path) if lay == "rename" else getattr(path, lay)(other)
    if lay == "rename" and content == b"{":  # as a journal begins
        assert read_journal(GRAPH) == Labelling()
        return
    for act in (lambda: read_journal(GRAPH), lambda: add_events(GRAPH, Event(SKIP, TRIPLES[0]))):
        with pytest.raises(KgdashError, match=r"\.jsonl.*(put a copy in its place|move it|line 1)"):
            act()
    assert path.read_bytes() == content


def test_a_link_that_leads_nowhere_makes_no_file(tmp_path):
    path = journal_file(GRAPH)
    path.parent.mkdir()
    path.symlink_to(tmp_path / "new")
    with pytest.raises(KgdashError, match="it is a link"):
        add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    assert not (tmp_path / "new").exists()


def test_a_link_laid_after_the_look_is_not_followed(tmp_path, monkeypatch):
    other, path, really = tmp_path / "key", journal_file(GRAPH), os.open
    other.write_bytes(b"secret")
    path.parent.mkdir()

    def late(place, flags, *more, **named):
        if str(place) == str(path) and flags & os.O_APPEND:
            path.symlink_to(other)
        return really(place, flags, *more, **named)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(KgdashError, match="can not write"):
        add_events(GRAPH, Event(SKIP, TRIPLES[0]))
    assert other.read_bytes() == b"secret"
