"""How long computations report where they are, and how they are stopped.

A computation calls ``progress(done, total)`` now and then. Whoever listens may raise an exception
from the call (a page that was left, Ctrl-C): the computation then ends at once and, since results
are only written when complete, leaves nothing behind.
"""

import sys
import time
from collections.abc import Callable

Progress = Callable[[float, float], None]

#: called amid a step that has no part to report, and may raise as a progress may
Beat = Callable[[], None]


def silent(done: float, total: float) -> None:
    """Report to nobody."""


def unheard() -> None:
    """Beat for nobody."""


class Estimate:
    """Turns done/total into a remaining time, in seconds."""

    def __init__(self) -> None:
        """Start the clock."""
        self.start = time.monotonic()

    def remaining(self, done: float, total: float) -> float | None:
        """Return the seconds left at the pace so far, or None while there is no pace yet."""
        elapsed = time.monotonic() - self.start
        return elapsed / done * (total - done) if done > 0 and elapsed > 0.5 else None


def duration_text(seconds: float) -> str:
    """Write how long something takes: "48 s", "34 min", "2.5 h", "3 days"; at least "1 s"."""
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:,.0f} days"


def phases(progress: Progress, weights: list[float]) -> list[Progress]:
    """Split one progress into consecutive ones that together run from nothing to all.

    :param weights: the share of each phase, any positive numbers
    :return: one progress per phase
    """
    total = sum(weights) or 1.0

    def part(number: int) -> Progress:
        before = sum(weights[:number])
        return lambda done, of: progress(before + weights[number] * done / max(of, 1e-9), total)

    return [part(number) for number in range(len(weights))]


def stretch(progress: Progress, start: float, stop: float, total: float) -> Progress:
    """Return the progress of what leads another one from ``start`` to ``stop`` of ``total``."""
    return lambda done, of: progress(start + (stop - start) * done / max(of, 1e-9), total)


def terminal(label: str) -> Progress:
    """Show progress as one line on standard error, only if that is a terminal."""
    if not sys.stderr.isatty():
        return silent
    estimate, ended = Estimate(), False

    def show(done: float, total: float) -> None:
        nonlocal ended
        if ended:
            return
        ended = done >= total
        left = estimate.remaining(done, total)
        text = f"\r{label}: {done / max(total, 1e-9):4.0%}"
        sys.stderr.write(text + (f", {duration_text(left)} left   " if left is not None else ""))
        sys.stderr.write("\n" if ended else "")
        sys.stderr.flush()

    return show
