"""A tour of six steps through the answers, for demonstrations; the arrow keys go on and back."""

from dataclasses import dataclass, field

import streamlit as st

_STEP = "tour_step"


@dataclass(frozen=True)
class Step:
    """A page at some choices, and what it shows."""

    page: str
    text: str
    choices: dict[str, str] = field(default_factory=dict)


STEPS = (
    Step(
        "overview",
        "**Where can this model be trusted?** The answer comes first, with what to look at. No "
        "sentence says more than the intervals carry.",
    ),
    Step(
        "metrics",
        "**How well does it rank held-out facts?** Each metric by side and rank type; known facts "
        "are filtered out.",
    ),
    Step(
        "breakdowns",
        "**For which relations?** The worst first; a click on a bar lists its triples.",
        {"order_relation": "worst first"},
    ),
    Step(
        "reliability",
        "**Where in the graph?** Regions whose ReliK is lower or higher than chance explains: no "
        "test triples needed.",
    ),
    Step(
        "local",
        "**And just here?** ReliK beside the MRR of one part of the graph; click what you doubt.",
        {"size": "20"},
    ),
    Step(
        "inspect",
        "**Why this answer?** Its candidates, what scores higher, what is known of both ends.",
    ),
)


def offer_tour() -> None:
    """Show the button that begins the tour."""
    if st.button("Take the tour", icon=":material/tour:", key="tour_begin"):
        _go_to(0)


def show_tour() -> None:
    """Show the step that the tour is at, if it is on, and the ways on."""
    number = st.session_state.get(_STEP)
    if number is None:
        return
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", key="tour", gap="small"
    ):
        st.markdown(f"Step {number + 1} of {len(STEPS)}. {STEPS[number].text}", width="stretch")
        back = st.button("Back", key="tour_back", shortcut="Left", disabled=number == 0)
        last = number == len(STEPS) - 1
        on = st.button("Next", key="tour_next", shortcut="Right", disabled=last, type="primary")
        end = st.button("End", key="tour_end", shortcut="Esc")
    if end:
        del st.session_state[_STEP]
        st.rerun()
    if back or on:
        _go_to(number + (1 if on else -1))


def _go_to(number: int) -> None:
    st.session_state[_STEP] = number
    step = STEPS[number]
    st.switch_page(f"pages/{step.page}.py", query_params=step.choices)
