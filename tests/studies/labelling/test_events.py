"""What follows from labels given, passed over and taken back, in any order."""

from hypothesis import given
from hypothesis import strategies as st

from kgdash.studies.labelling.events import LABEL, SKIP, UNDO, Event, Labelling
from tests.support.labelling import TRIPLES


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
        state = Labelling.replay((*state.events, event))
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
