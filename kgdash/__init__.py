"""kgdash: see where a knowledge-graph embedding can be trusted.

>>> run = kgdash.load("umls-transe")
>>> ranks = run.ranks(split="test")
>>> kgdash.metrics(ranks).value("mrr")
>>> run.plot.ranks()
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Else Arrow takes a gibibyte at its first use, before it needs any: more than a small file may take
# to be read (`kgdash.files.bounded_reading`).
os.environ.setdefault("MIMALLOC_ARENA_EAGER_COMMIT", "0")

from kgdash.accessors import ACCESSORS
from kgdash.errors import KgdashError
from kgdash.version import __version__

if TYPE_CHECKING:
    from kgdash.ranking.metrics import metrics
    from kgdash.reports.run_plots import RunPlots
    from kgdash.runs import Run
    from kgdash.runs.importing import run_from_arrays
    from kgdash.runs.loading import load
    from kgdash.studies.audit.of_run import audit

__all__ = [
    "KgdashError",
    "Run",
    "__version__",
    "audit",
    "load",
    "metrics",
    "run_from_arrays",
]


def _plots(run: Run) -> RunPlots:
    from kgdash.reports.run_plots import RunPlots

    return RunPlots(run)


def _probabilities(run: Run) -> Any:
    from functools import partial

    from kgdash.studies.probability.probabilities import probabilities

    return partial(probabilities, run)


def _why(run: Run) -> Any:
    from functools import partial

    from kgdash.studies.explanations.explanation import why

    return partial(why, run)


def _discover(run: Run) -> Any:
    from kgdash.studies.discovery.discovery import DiscoverySetting, discover

    def find(setting: dict[str, Any], progress: Any) -> Any:
        return discover(run, DiscoverySetting(**setting), progress)

    return find


def _protocols(run: Run) -> Any:
    from kgdash.studies.protocols.protocols import ProtocolSetting, protocols

    def find(setting: dict[str, Any], progress: Any) -> Any:
        return protocols(run, ProtocolSetting(**setting), progress)

    return find


def _answer_sets(run: Run) -> Any:
    from kgdash.studies.probability.answer_sets import AnswerSetSetting, answer_sets

    def find(epsilon: float, score: str, groups: str, progress: Any) -> Any:
        return answer_sets(run, AnswerSetSetting(epsilon, score, groups), progress)

    return find


ACCESSORS["answer_sets"] = _answer_sets
ACCESSORS["discover"] = _discover
ACCESSORS["plot"] = _plots
ACCESSORS["probabilities"] = _probabilities
ACCESSORS["protocols"] = _protocols
ACCESSORS["why"] = _why


#: what needs pandas or PyKEEN (seconds), imported only when it is asked for -> its module
_LATER = {
    "Run": "kgdash.runs",
    "audit": "kgdash.studies.audit.of_run",
    "load": "kgdash.runs.loading",
    "metrics": "kgdash.ranking.metrics",
    "run_from_arrays": "kgdash.runs.importing",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'kgdash' has no attribute {name!r}")
