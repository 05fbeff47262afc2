"""Doing ahead what the first visitor would wait for."""

from __future__ import annotations

import importlib
import threading

from kgdash.engine.warm import warm
from kgdash.runs.own_program import start_module
from kgdash.ui.runtime.line import line

_started, _ready = threading.Event(), threading.Event()


def warm_in_background() -> None:
    """Compile the kernels, and import what only later pages need, once per process."""
    if not _started.is_set():
        _started.set()
        threading.Thread(target=_warm, name="kgdash-warm", daemon=True).start()


def kernels_ready() -> bool:
    """Tell whether all kernels are compiled."""
    return _ready.is_set()


def _warm() -> None:
    if line().workers:
        # The first start of a version compiles for half a minute, and keeps Python meanwhile:
        # another process does so, and leaves on disk what this one reads.
        start_module("kgdash.engine.warm").wait()
    warm()
    _ready.set()
    # SciPy's distributions, for the intervals of sampled ReliK.
    importlib.import_module("kgdash.ranking.relik_sampled")
    line().get_ready()
