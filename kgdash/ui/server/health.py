"""Two answers for who runs the server: is it well (/healthz), and what did it do (/metricsz)?"""

import hmac
import os
import shutil
import tempfile
import threading
import time
from typing import Any

import numpy as np
import torch
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit.runtime import get_instance

from kgdash.engine.bounds import Thresholds
from kgdash.engine.kernels import count_given
from kgdash.files.cache_folder import cache_directory
from kgdash.files.event_log import counted
from kgdash.ui.runtime.background import running_jobs
from kgdash.ui.runtime.line import line
from kgdash.ui.runtime.visitors import server_settings
from kgdash.ui.runtime.warm_up import kernels_ready, warm_in_background
from kgdash.version import __version__

#: "on" answers /metricsz
METRICS = "KGDASH_METRICS"

#: bytes on the cache's disk below which results are not kept for long
_LITTLE = 64 * 2**20

#: seconds that an answer is good for, so that who asks often costs nothing
_FRESH = 5.0

_LOCAL = ("localhost", "127.0.0.1", "::1")


def engine_health() -> dict[str, Any]:
    """Count a handful of scores with a compiled kernel and compare with what is known."""
    scores = np.array([[3.0, 1.0, 2.0, 2.0]], dtype=np.float32)
    row = np.zeros(1, dtype=np.int64)
    thresholds = Thresholds.of(np.array([2.0], dtype=np.float32), row, 1)
    counts = thresholds.counts()
    count_given(scores, row, thresholds.bounds, counts)
    greater, equal = thresholds.result([counts])
    is_right = (int(greater[0]), int(equal[0])) == (1, 2)
    return {"ok": is_right, "threads": torch.get_num_threads()}


def cache_health() -> dict[str, Any]:
    """Write a file where tables are kept, and look how much room there is."""
    folder = cache_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"kgdash")
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return {"ok": False, "error": type(error).__name__}
    return {"ok": free >= _LITTLE, "free_bytes": free}


def health() -> tuple[bool, dict[str, Any]]:
    """Return whether the server is well, and what was found; nothing of it names a path."""
    if kernels_ready():
        engine = engine_health()
    else:
        warm_in_background()
        engine = {"ok": False, "state": "compiling"}
    cache = cache_health()
    ok = bool(engine["ok"] and cache["ok"])
    told = {"status": "ok" if ok else "unwell", "version": __version__, "sessions": _sessions()}
    return ok, {
        **told,
        "engine": engine,
        "cache": cache,
        "jobs": running_jobs(),
        "jobs_in_line": line().waiting,
        "sessions": _sessions(),
    }


def metrics_text() -> str:
    """Write counts and gauges as Prometheus reads them (text format 0.0.4)."""
    _, found = health()
    gauges = {
        "up": 1,
        "engine_ok": int(found["engine"]["ok"]),
        "cache_ok": int(found["cache"]["ok"]),
        "cache_free_bytes": found["cache"].get("free_bytes", 0),
        "sessions": found["sessions"],
        "jobs": found["jobs"],
        "jobs_in_line": found["jobs_in_line"],
        "resident_bytes": _resident(),
    }
    lines = []
    for name, value in gauges.items():
        lines += [f"# TYPE kgdash_{name} gauge", f"kgdash_{name} {value}"]
    events = counted()
    lines += ["# TYPE kgdash_events_total counter"]
    lines += [f"kgdash_events_total{_labels(event, words)} {n}" for event, words, n, _ in events]
    lines += ["# TYPE kgdash_event_seconds_total counter"]
    lines += [
        f"kgdash_event_seconds_total{_labels(event, words)} {seconds:.3f}"
        for event, words, _, seconds in events
        if seconds is not None
    ]
    return "\n".join([*lines, ""])


def may_watch(request: Request) -> bool:
    """Tell whether all may be told: this machine, and who has the token of the settings."""
    settings = server_settings()
    token = settings.monitor if settings is not None else ""
    given = request.headers.get("authorization", "").encode()
    return is_local(request) or bool(
        token and hmac.compare_digest(given, f"Bearer {token}".encode())
    )


def is_local(request: Request) -> bool:
    """Tell whether this machine asks itself, by its own name and through no proxy.

    A proxy may say nothing of itself, and pass on whatever name it was asked by: where visitors
    come by one, nobody is sure to be here.
    """
    settings = server_settings()
    if settings is not None and not settings.is_local:
        return False
    forwarded = {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"}
    peer = request.client.host if request.client else ""
    here = peer in _LOCAL and request.url.hostname in _LOCAL
    return here and not forwarded & set(request.headers.keys())


def _healthz(request: Request) -> Response:
    ok, found = _recent()
    if not may_watch(request):  # who waits for whom is no visitor's business
        found = {"status": found["status"]}
    return JSONResponse(found, 200 if ok else 503, {"Cache-Control": "no-store"})


def _metrics(request: Request) -> Response:
    if os.environ.get(METRICS, "off").lower() != "on" or not may_watch(request):
        return PlainTextResponse("not found\n", 404)
    return PlainTextResponse(metrics_text(), media_type="text/plain; version=0.0.4")


#: what app.py adds to Streamlit's addresses
ROUTES = (Route("/healthz", _healthz), Route("/metricsz", _metrics))

_guard = threading.Lock()
_latest: tuple[float, tuple[bool, dict[str, Any]]] | None = None


def _recent() -> tuple[bool, dict[str, Any]]:
    """Return `health`, found anew if the latest answer is old, or was bad."""
    global _latest
    with _guard:
        now = time.monotonic()
        if _latest is None or not _latest[1][0] or now - _latest[0] > _FRESH:
            _latest = now, health()
        return _latest[1]


def _labels(event: str, words: dict[str, str]) -> str:
    parts = [f'event="{event}"', *(f'{name}="{word}"' for name, word in words.items())]
    return "{" + ",".join(parts) + "}"


def _sessions() -> int:
    """Return how many tabs are connected."""
    stats = get_instance().stats_mgr.get_stats(family_names=["active_sessions"])
    return sum(int(getattr(stat, "value", 0)) for family in stats.values() for stat in family)


def _resident() -> int:
    """Return the bytes of memory that the process holds; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
