"""How many scores of a row beat a threshold, and how many equal it: the kernel under every rank."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

#: from this many thresholds in a row on, sorting the row beats comparing it once per threshold
_MANY_THRESHOLDS = 8


def count_against(scores: torch.Tensor, own: torch.Tensor, own_row: np.ndarray) -> np.ndarray:
    """Count the scores above and equal to each threshold in its row.

    :param scores: shape ``(rows, candidates)``, no NaN
    :param own: thresholds, shape ``(n,)``, same dtype and device
    :param own_row: row of each threshold, int64, shape ``(n,)``, ascending
    :return: int64, shape ``(n, 2)``: strictly greater, equal
    """
    counts = np.zeros((len(own_row), 2), dtype=np.int64)
    starts = np.searchsorted(own_row, np.arange(scores.shape[0] + 1))
    on_cpu = scores.device.type == "cpu"
    # NumPy's vectorised comparison and sort are several times faster than torch's on a CPU.
    rows: Any = scores.numpy() if on_cpu else scores
    thresholds: Any = own.numpy() if on_cpu else own
    for row, (start, stop) in enumerate(itertools.pairwise(starts)):
        if start == stop:
            continue
        if not on_cpu:
            counts[start:stop] = _count_sorted_torch(rows[row], thresholds[start:stop])
        elif stop - start >= _MANY_THRESHOLDS:
            counts[start:stop] = _count_sorted(rows[row], thresholds[start:stop])
        else:
            for i in range(start, stop):
                counts[i, 0] = np.count_nonzero(rows[row] > thresholds[i])
                counts[i, 1] = np.count_nonzero(rows[row] == thresholds[i])
    return counts


def _count_sorted(row: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    ordered = np.sort(row)
    above = len(row) - np.searchsorted(ordered, thresholds, side="right")
    not_below = len(row) - np.searchsorted(ordered, thresholds, side="left")
    return np.stack([above, not_below - above], axis=1)


def _count_sorted_torch(row: torch.Tensor, thresholds: torch.Tensor) -> np.ndarray:
    ordered = torch.sort(row).values
    above = len(row) - torch.searchsorted(ordered, thresholds, right=True)
    not_below = len(row) - torch.searchsorted(ordered, thresholds, right=False)
    return torch.stack([above, not_below - above], dim=1).cpu().numpy()
