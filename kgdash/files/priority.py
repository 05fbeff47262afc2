"""What a process that nobody waits for gives way in."""

import contextlib
import os
from pathlib import Path

#: how much sooner than others the system ends it where memory is short, of 1000 (Linux)
_SOONER = 800


def give_way(steps: int) -> None:
    """Let others go first in this machine's cores, and be ended first where memory is short.

    :param steps: of the system's scheduler
    """
    with contextlib.suppress(OSError, AttributeError):
        os.nice(steps)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_SOONER), "ascii")
