"""What a worker of a cluster does: opens the run once, and counts part after part of its tables.

It is told in plain values, which a worker of any version can read.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

import numpy as np
import torch

from kgdash.errors import KgdashError
from kgdash.graph import FILTERS
from kgdash.ranking.ranks import count_greater_and_equal
from kgdash.ranking.relik_exact import count_negatives
from kgdash.runs.call import Origin
from kgdash.runs.run import Run
from kgdash.version import __version__

#: runs that stay open
_OPEN = 2

_runs: OrderedDict[tuple[str, str], Run] = OrderedDict()
_guard = threading.Lock()


def count_part(asked: dict[str, Any]) -> dict[str, Any]:
    """Count a part.

    :param asked: ``version`` of kgdash; ``origin``, the fields of `kgdash.runs.call.Origin`;
        ``kind``, ``side``, ``triples``, ``filter`` of `kgdash.runs.cluster_parts.Part`
    :return: ``counts`` (int64 arrays) and ``seconds``; or ``refused``, a message
    """
    if asked["version"] != __version__:
        return {"refused": f"it has kgdash {__version__}, and the command {asked['version']}"}
    try:
        run = _open(asked["origin"])
        start = time.monotonic()
        counts = _counts(run, asked)
    except KgdashError as error:
        return {"refused": str(error)}
    return {"counts": counts, "seconds": time.monotonic() - start}


def _counts(run: Run, asked: dict[str, Any]) -> tuple[np.ndarray, ...]:
    triples, side = np.asarray(asked["triples"]), asked["side"]
    if asked["kind"] == "relik":
        found = count_negatives(run.scorer, triples, run.graph.known(), side)
        return found.greater, found.equal, found.negatives
    splits = FILTERS[asked["filter"]]
    known = run.graph.known(splits) if splits else None
    return count_greater_and_equal(run.scorer, triples, known, side)


def _open(origin: dict[str, Any]) -> Run:
    """Open a run, unless it is one of the latest; who comes meanwhile waits."""
    with _guard:
        # Each thread of a worker counts a part of its own.
        torch.set_num_threads(1)
        wanted = tuple(origin["identity"])
        if wanted not in _runs:
            _runs[wanted] = Origin(**{**origin, "identity": wanted}).load()
        _runs.move_to_end(wanted)
        while len(_runs) > _OPEN:
            _runs.popitem(last=False)
        return _runs[wanted]
