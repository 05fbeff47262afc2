"""The trust card on the page Inspect: a line, and five figures; what is not prepared waits."""

from __future__ import annotations

import streamlit as st

from kgdash.errors import KgdashError
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.runs.library import named_stamps
from kgdash.studies.classification.given_negatives import verified_stamp
from kgdash.studies.inspection.inspection import Inspection
from kgdash.studies.trust.basis import card_basis, is_at_hand
from kgdash.studies.trust.card import TrustCard, trust_card
from kgdash.studies.trust.competing import competing_names
from kgdash.ui.inspection.explanation import reasons_at_hand
from kgdash.ui.inspection.large_runs import is_wanted, not_wanted, want
from kgdash.ui.runtime.computed import computed, try_computing
from kgdash.ui.runtime.loaded_runs import sound_runs
from kgdash.ui.runtime.markdown import plain
from kgdash.ui.widgets.card import show_card

_TITLES = {
    "answer_set": "Answer set",
    "probability": "Probability ↑",
    "relik": "ReliK ↑",
    "agreement": "Agreement ↑",
    "reason": "Strongest reason",
}

_BADGES = {
    "likely": (":material/check: Likely right", "blue"),
    "unsure": (":material/help: Unsure", "orange"),
    "doubtful": (":material/warning: Doubt it", "red"),
    "unknown": (":material/help: Not known", "gray"),
}

#: run whose cards the visitor wants computed
_WANTED = "cards_wanted"


def show_trust(found: Inspection) -> None:
    """Show how far a whole triple can be trusted, as the answer for the side that is looked at."""
    if found.triple.open_side is not None:
        return
    run = found.run
    if is_wanted(run, _WANTED):
        computed("Preparing trust cards", (run.identity, "trust basis"), Call(card_basis, run))
    side = "head" if st.session_state.get("candidates_for") == "head" else "tail"
    names = _competing(run)
    waiting = not_wanted(run, names, _WANTED)
    try:
        card = _card(found, side, names, waiting)
    except KgdashError as error:  # as of a run that was asked, and is another by now
        st.error(plain(str(error)), icon=":material/error:")
        return
    text, colour = _BADGES[card.level]
    # The badge says what the line begins with.
    st.markdown(f":{colour}-badge[{text}] {plain(card.line.partition(': ')[2])}")
    with st.container(horizontal=True):
        for figure in card.figures:
            show_card(_TITLES[figure.name], figure.text, figure.beneath, plain(figure.about))
    if card.command is not None or waiting:
        too = f"; {plain(card.command)} does it, too" if card.command else ""
        st.button(
            "Compute what these cards need",
            icon=":material/calculate:",
            help=f"Once for all triples of this run{too}.",
            on_click=want,
            args=(_WANTED, run.identity),
            key="compute_cards",
        )


def _card(found: Inspection, side: str, names: list[str], waiting: list[str]) -> TrustCard:
    """Make the card, or take the one that was made, unless something was not prepared then."""
    run = found.run
    others = sound_runs((name for name in names if name not in waiting), beside=[run])
    unasked = len(names) - len(others)
    identities = tuple(other.identity for other in others.values())
    why = reasons_at_hand(run, found.triple)
    state = (why is not None, is_at_hand(run), unasked, *verified_stamp(run))
    made: TrustCard = try_computing(
        "Asking runs that rank about as well",
        (run.identity, *identities, "card", found.triple, found.filter, side, *state),
        Call(trust_card, found, others, side, why, unasked),
    )
    return made


def _competing(run: Run) -> list[str]:
    names: list[str] = computed(
        "Looking for runs",
        (run.identity, "competing", named_stamps()),
        lambda report: competing_names(run, report),
    )
    return names
