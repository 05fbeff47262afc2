"""How sure the figures of a sample shall be, where the graph is too large to count all of it."""

from __future__ import annotations

from kgdash.progress import duration_text
from kgdash.runs import Run
from kgdash.runs.preparation import (
    first_sample_hours,
    is_counted_unasked,
    is_sampled_unasked,
)
from kgdash.runs.sampled_means import WIDTH
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import choose_one

_WIDTHS = (0.1, WIDTH, 0.02, 0.01)

#: stands for no width
_NONE = "without ReliK"


def choose_width(run: Run) -> float | None:
    """Show how wide intervals may be; None, and nothing, where all is counted anyway.

    What is chosen at first is None too: nobody asked for it.
    """
    if is_counted_unasked(run):
        return None
    texts = [f"{width:g}" for width in _WIDTHS]
    first = texts[_WIDTHS.index(WIDTH)] if is_sampled_unasked(run) else _NONE
    with settings():
        chosen = choose_one(
            "Width of intervals",
            texts if first in texts else [_NONE, *texts],
            "width",
            first,
            help="Of the 95% intervals of MRR and mean ReliK, at most: so many triples are drawn "
            "at random and counted. Half the width takes up to four times as many. A sample of "
            f"ReliK takes {duration_text(3600 * first_sample_hours(run))} of a core or more.",
        )
    return float(chosen) if chosen != first else None
