"""Doing ahead what the first visitor would wait for."""

from __future__ import annotations

import importlib
import threading

from kgdash.engine.warm import warm
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
    warm()
    _ready.set()
    # SciPy's distributions, for the intervals of sampled ReliK.
    importlib.import_module("kgdash.ranking.relik_sampled")
    line().get_ready()
