"""How sure the figures of a sample shall be, where the graph is too large to count all of it."""

from __future__ import annotations

from kgdash.runs import Run
from kgdash.runs.preparation import is_counted_unasked
from kgdash.runs.sampled_means import WIDTH
from kgdash.ui.runtime.sidebar import settings
from kgdash.ui.widgets.choices import choose_one

_WIDTHS = (0.1, WIDTH, 0.02, 0.01)


def choose_width(run: Run) -> float | None:
    """Show how wide intervals may be; None, and nothing, where all is counted anyway.

    The first width is none that somebody asked for.
    """
    if is_counted_unasked(run):
        return None
    with settings():
        chosen = choose_one(
            "Width of intervals",
            [f"{width:g}" for width in _WIDTHS],
            "width",
            f"{WIDTH:g}",
            help="Of the 95% intervals of MRR and mean ReliK, at most: so many triples are drawn "
            "at random and counted. Half the width takes up to four times as many.",
        )
    return float(chosen) if float(chosen) != WIDTH else None
