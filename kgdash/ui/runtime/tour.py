"""A tour of six steps through the answers, for demonstrations; the arrow keys go on and back."""

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from kgdash.graph import IDS
from kgdash.runs import Run
from kgdash.runs.call import Call
from kgdash.studies.overview.overview import doubted_fact
from kgdash.studies.reliability.run_relik import run_relik_known
from kgdash.ui.runtime.computed import computed

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
        "**Why?** The fact that the model trusts least: its candidates, what scores higher, what "
        "is known of both ends. Is it wrong, or was it not learnt?",
    ),
)


#: the arrow keys follow the links, as long as nothing else takes them
_KEYS = """<script>
document.onkeydown = (event) => {
  const way = {ArrowLeft: "back", ArrowRight: "next"}[event.key];
  const taken = event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey;
  if (!way || taken || event.target.closest("input, textarea, canvas, [role=tab]")) return;
  document.querySelector(`.st-key-tour_${way} a`)?.click();
};
</script>"""


def offer_tour() -> None:
    """Show the button that begins the tour, on its first page."""
    st.button("Take the tour", "tour_begin", icon=":material/tour:", on_click=_begin)


def show_tour(page: Any, run: Run | None) -> None:
    """Show the step that the tour is at, if it is on, and the ways on.

    Ways are links: each is one entry of the browser's history, `st.switch_page` makes several.

    :param page: that is about to run: its step, if it has one, is the tour's
    :param run: that the page is about
    """
    if _STEP not in st.session_state:
        return
    pages = [step.page for step in STEPS]
    if (page.url_path or pages[0]) in pages:
        st.session_state[_STEP] = pages.index(page.url_path or pages[0])
    number = st.session_state[_STEP]
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", key="tour", gap="small"
    ):
        st.markdown(f"Step {number + 1} of {len(STEPS)}. {STEPS[number].text}", width="stretch")
        if number:
            _link(number - 1, "back", run)
        if number + 1 < len(STEPS):
            _link(number + 1, "next", run)
        st.button("End", "tour_end", shortcut="Esc", on_click=_end)
    st.html(_KEYS, unsafe_allow_javascript=True)


def _begin() -> None:
    st.session_state[_STEP] = 0


def _end() -> None:
    del st.session_state[_STEP]


def _link(number: int, way: str, run: Run | None) -> None:
    step = STEPS[number]
    choices = doubtful_fact(run) if step.page == "inspect" and run is not None else step.choices
    icon = {"back": ":material/arrow_back:", "next": ":material/arrow_forward:"}[way]
    with st.container(key=f"tour_{way}", width="content"):
        st.page_link(
            f"pages/{step.page}.py", label=way.capitalize(), icon=icon, query_params=choices
        )


def doubtful_fact(run: Run) -> dict[str, str]:
    """Return, as Inspect's address names it, the known fact that a run trusts least.

    :return: empty while its ReliK is not counted: the page then opens on a fact of its own
    """
    if not run_relik_known(run):
        return {}
    names: tuple[str, ...] = computed(
        "Looking for the least reliable fact",
        (run.identity, "doubtful fact"),
        Call(doubted_fact, run),
    )
    return dict(zip(IDS, names, strict=True))
