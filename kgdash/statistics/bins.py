"""Bins of one width."""

from __future__ import annotations

import numpy as np


def bin_edges(values: np.ndarray, bins: int) -> np.ndarray:
    """Cut the range of finite values into bins, as NumPy does: float64, ``(bins + 1,)``.

    A range too small for so many is widened: scores may be large and all but equal.
    """
    ends = np.array([values.min(), values.max()] if len(values) else [0.0, 1.0], dtype=np.float64)
    least = 2 * bins * np.spacing(np.abs(ends).max())
    if (ends[1] - ends[0] or 1.0) < least:
        ends += least * np.array([-0.5, 0.5])
    return np.histogram_bin_edges(ends, bins)
