"""What the benchmarks share: the setting, timing, peak memory, the machine, printing."""

import logging
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

# Of this checkout, with a cache of its own: nothing is read from an earlier run.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["KGDASH_CACHE"] = tempfile.mkdtemp()
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")

import torch  # noqa: E402

from kgdash.engine.warm import warm  # noqa: E402
from kgdash.files.provenance import machine as processor  # noqa: E402

#: bundled models that a benchmark takes if none is named
SIX = tuple(
    f"umls-{model}" for model in ("transe", "distmult", "rotate", "pairre", "complex", "conve")
)


def seconds(work: Callable[[], object]) -> float:
    """Run ``work`` once and return how long it took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_seconds(work: Callable[[], object], repeats: int = 5, enough: float = 20.0) -> float:
    """Run ``work`` once to warm up, then up to ``repeats`` times; return the median of the latter.

    Work that takes longer than ``enough`` seconds is not repeated: its first time counts.
    """
    first = seconds(work)
    if first > enough:
        return first
    return statistics.median(seconds(work) for _ in range(repeats))


def peak_mebibytes() -> float:
    """Return the peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> str:
    """Describe the machine in a line, and compile the kernels, which no figure includes."""
    compiled = seconds(warm)
    return (
        f"{processor()}, {torch.get_num_threads()} threads, "
        f"torch {torch.__version__}, Python {platform.python_version()}; "
        f"kernels ready after {compiled:.1f} s"
    )
