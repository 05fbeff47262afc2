"""What the kernels should find: scores and counts by their definitions, in plain NumPy.

A group's scores are those of its rows; a triple's two numbers are how many of them exceed its own
score and how many equal it. NaN are no scores.
"""

from __future__ import annotations

import numpy as np

from kgdash.engine.bounds import Thresholds
from kgdash.engine.form import Panels, padded
from kgdash.engine.kernels import Masks
from kgdash.engine.microkernels import DOT, L1, L2
from kgdash.engine.scoring_kernels import score_block

KINDS = {"dot": 0, "l1": 1, "l2": 2, "l2 squared": 3}

#: scores that are hard to tell apart or to compute with, all of them legal
TRICKY = np.array(
    [
        *(0.0, -0.0, 1e-45, -1e-45, 1.0, 1.0, -1.0, 2.5),
        *(np.nextafter(np.float32(1), np.float32(x)) for x in (2, 0)),
        *(np.nextafter(np.float32(-1), np.float32(x)) for x in (-2, 0)),
        *(np.finfo(np.float32).max, np.finfo(np.float32).min, 1e30, -1e30),
    ],
    dtype=np.float32,
)


def reference(kind: int, queries: np.ndarray, entities: np.ndarray) -> np.ndarray:
    """Score all pairs in float64: ``(n, K)``, ``(m, K)`` → ``(n, m)``."""
    left, right = queries.astype(np.float64)[:, None], entities.astype(np.float64)[None]
    if kind == DOT:
        return (left * right).sum(-1)
    if kind == L1:
        return -np.abs(left - right).sum(-1)
    squared = ((left - right) ** 2).sum(-1)
    return -np.sqrt(squared) if kind == L2 else -squared


def block(kind: int, queries: np.ndarray, entities: np.ndarray) -> np.ndarray:
    """Score all pairs with the kernels."""
    panels = Panels.of(entities)
    out = np.full((len(queries), len(entities)), np.nan, dtype=np.float32)
    score_block(kind, padded(queries), len(queries), panels.blocks, panels.count, out)
    return out


def integers(shape: tuple[int, ...], seed: int, largest: int = 2) -> np.ndarray:
    """Make vectors of small whole numbers: scores are exact, and tie."""
    found = np.random.default_rng(seed).integers(-largest, largest + 1, shape)
    return found.astype(np.float32)


def masks_of(left_out: np.ndarray) -> Masks:
    """Turn a table of what is left out, bool ``(rows, columns)``, into masks."""
    rows, columns = np.nonzero(left_out)
    sizes = np.bincount(rows, minlength=len(left_out))
    return Masks(np.concatenate([[0], np.cumsum(sizes)]), columns)


def plain(
    scores: np.ndarray, groups: np.ndarray, own: np.ndarray, group: np.ndarray
) -> list[list[int]]:
    """Count by looking at each score: greater and equal, per triple.

    :param scores: ``(rows, columns)``, NaN where an entity is left out
    :param groups: the group of each row
    :param own: each triple's score, in its ``group``
    """
    found = []
    for score, number in zip(own, group, strict=True):
        around = scores[groups == number]
        found.append([int((around > score).sum()), int((around == score).sum())])
    return found


def counted(thresholds: Thresholds, *parts) -> list[list[int]]:
    """List the engine's counts as `plain` does."""
    return np.stack(thresholds.result(list(parts)), axis=1).tolist()
