"""What a worker of a cluster does: opens the run once, and does part after part of its work.

It is told in plain values, which a worker of any version can read.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

import torch

from kgdash.errors import KgdashError
from kgdash.progress import silent
from kgdash.runs.call import Origin, read
from kgdash.runs.run import Run
from kgdash.version import __version__

#: runs that stay open
_OPEN = 2

_runs: OrderedDict[tuple[str, str], Run] = OrderedDict()
_guard = threading.Lock()


def do_part(asked: dict[str, Any]) -> dict[str, Any]:
    """Do a part of a run's work.

    :param asked: ``version`` of kgdash; ``origin``, the fields of `kgdash.runs.call.Origin`;
        ``work``, what `kgdash.runs.call.write` wrote of a function and the part: it is read by the
        same version only
    :return: ``found`` and ``seconds``; or ``refused``, a message
    """
    if asked["version"] != __version__:
        return {"refused": f"it has kgdash {__version__}, and the command {asked['version']}"}
    try:
        run = _open(asked["origin"])
        start = time.monotonic()
        work, part = read(asked["work"])
        found = work(run, part, silent)
    except KgdashError as error:
        return {"refused": str(error)}
    return {"found": found, "seconds": time.monotonic() - start}


def _open(origin: dict[str, Any]) -> Run:
    """Open a run, unless it is one of the latest; who comes meanwhile waits."""
    with _guard:
        # Each thread of a worker does a part of its own.
        torch.set_num_threads(1)
        wanted = tuple(origin["identity"])
        if wanted not in _runs:
            _runs[wanted] = Origin(**{**origin, "identity": wanted}).load()
        _runs.move_to_end(wanted)
        while len(_runs) > _OPEN:
            _runs.popitem(last=False)
        return _runs[wanted]
