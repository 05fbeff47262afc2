"""How many scores of a row beat a threshold, and how many equal it, for rows that a model gives."""

import numpy as np
import torch

from kgdash.engine.bounds import Thresholds
from kgdash.engine.kernels import count_given
from kgdash.engine.row_kernels import Counts
from kgdash.engine.workers import run_in_threads
from kgdash.progress import silent

#: from this many thresholds in a row on, an accelerator sorts the row instead of comparing it once
#: per threshold
_MANY_THRESHOLDS = 64
#: scores that a thread counts, or an accelerator compares, at a time
_AT_ONCE = 2**22


def count_above_thresholds(
    scores: torch.Tensor, own: torch.Tensor, own_row: np.ndarray
) -> np.ndarray:
    """Count the scores above and equal to each threshold in its row.

    :param scores: shape ``(rows, candidates)``, no NaN
    :param own: thresholds, shape ``(n,)``, same dtype and device
    :param own_row: row of each threshold, int64, shape ``(n,)``, ascending
    :return: int64, shape ``(n, 2)``: strictly greater, equal
    """
    if scores.device.type == "cpu" and scores.dtype == torch.float32:
        return _count_on_cpu(np.ascontiguousarray(scores.numpy()), own.numpy(), own_row)
    return _count_on_device(scores, own, own_row)


def _count_on_cpu(scores: np.ndarray, own: np.ndarray, own_row: np.ndarray) -> np.ndarray:
    thresholds = Thresholds.of(own, own_row, len(scores))
    group = np.arange(len(scores))
    step = max(1, _AT_ONCE // max(1, scores.shape[1]))

    def work(start: int, counts: Counts) -> float:
        part = slice(start, start + step)
        count_given(scores[part], group[part], thresholds.bounds, counts)
        return 1.0

    starts = range(0, len(scores), step)
    threads = min(len(starts), torch.get_num_threads())
    parts = run_in_threads(starts, work, thresholds.counts, len(starts), silent, max(1, threads))
    greater, equal = thresholds.result(parts)
    return np.stack([greater, equal], axis=1)


def _count_on_device(scores: torch.Tensor, own: torch.Tensor, own_row: np.ndarray) -> np.ndarray:
    counts = np.zeros((len(own_row), 2), dtype=np.int64)
    starts = np.searchsorted(own_row, np.arange(scores.shape[0] + 1))
    many = np.diff(starts) >= _MANY_THRESHOLDS
    for row in np.flatnonzero(many):
        start, stop = starts[row], starts[row + 1]
        counts[start:stop] = _count_sorted(scores[row], own[start:stop]).cpu().numpy()
    few = np.flatnonzero(~many[own_row]) if len(own_row) else np.zeros(0, dtype=np.int64)
    step = max(1, _AT_ONCE * 16 // max(1, scores.shape[1]))
    for first in range(0, len(few), step):
        part = few[first : first + step]
        rows = scores[torch.from_numpy(own_row[part]).to(scores.device)]
        threshold = own[torch.from_numpy(part).to(scores.device), None]
        hits = ((rows > threshold).sum(dim=1), (rows == threshold).sum(dim=1))
        counts[part] = torch.stack(hits, dim=1).cpu().numpy()
    return counts


def _count_sorted(row: torch.Tensor, thresholds: torch.Tensor) -> torch.Tensor:
    ordered = torch.sort(row).values
    above = len(row) - torch.searchsorted(ordered, thresholds, right=True)
    not_below = len(row) - torch.searchsorted(ordered, thresholds, right=False)
    return torch.stack([above, not_below - above], dim=1)
