"""A run: a graph, a model trained on it, and where both come from; loaded, trained, refused.

Imports: breakdowns, formats and below. Start at `run.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgdash.runs.run import Run

__all__ = ["Run"]


def __getattr__(name: str) -> Any:
    """Import what needs torch (seconds) only when it is asked for."""
    if name == "Run":
        from kgdash.runs.run import Run

        return Run
    raise AttributeError(f"module 'kgdash.runs' has no attribute {name!r}")
