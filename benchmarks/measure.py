"""What the benchmarks share: timing, peak memory, the machine, printing."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable

import torch


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """Run ``work`` once to warm up, then ``repeats`` times; return the median of the latter."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_mebibytes() -> float:
    """Return the peak resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> str:
    """Describe the machine in a line."""
    return (
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"{torch.get_num_threads()} torch threads, torch {torch.__version__}, "
        f"Python {platform.python_version()}"
    )
