"""The score from which on triples are predicted true: the one with the highest accuracy.

Defined in numbers.md#7-triple-classification.
"""

from dataclasses import dataclass

import numpy as np

#: one threshold for all triples, or one per relation
THRESHOLDS = ("global", "relation")


@dataclass(frozen=True)
class Thresholds:
    """Where the score divides true from false: a triple is predicted true at or above it.

    ``overall``: for all relations; ``per_relation``: float64, shape ``(|R|,)``, equal to it where
    the relation has no labelled triple (``own`` is False), or thresholds are global.
    """

    overall: float
    per_relation: np.ndarray
    own: np.ndarray

    def predict(self, scores: np.ndarray, relations: np.ndarray) -> np.ndarray:
        """Predict which triples are true: bool, ``(n,)``."""
        return np.asarray(scores, dtype=np.float64) >= self.per_relation[relations]


def fit_thresholds(
    scores: np.ndarray,
    labels: np.ndarray,
    relations: np.ndarray,
    num_relations: int,
    thresholds: str = "global",
) -> Thresholds:
    """Choose the thresholds with the highest accuracy on labelled triples.

    :param scores: float, ``(n,)``, n ≥ 1, without NaN
    :param labels: bool, ``(n,)``
    :param relations: int64 ids, ``(n,)``
    :param thresholds: "global" or "relation"
    """
    overall = best_threshold(scores, labels)
    each, own = np.full(num_relations, overall), np.zeros(num_relations, dtype=bool)
    if thresholds == "relation":
        order = np.argsort(relations, kind="stable")
        present, starts = np.unique(relations[order], return_index=True)
        for relation, rows in zip(present, np.split(order, starts[1:]), strict=True):
            each[relation], own[relation] = best_threshold(scores[rows], labels[rows]), True
    return Thresholds(overall, each, own)


def best_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the threshold with the highest accuracy; scores at or above it are predicted true.

    Exact over all thresholds in [-∞, ∞]. Of equally good ones, the one in the widest gap between
    two neighbouring scores is taken, in its middle; predicting everything true (-∞) or
    everything false (∞) only where that alone is best.

    :param scores: float, ``(n,)``, n ≥ 1, without NaN; ±∞ is legal
    :param labels: bool, ``(n,)``
    """
    values, inverse = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    positives = np.bincount(inverse, weights=labels, minlength=len(values))
    negatives = np.bincount(inverse, minlength=len(values)) - positives
    # correct[i]: with the i lowest values predicted false
    correct = np.concatenate([[0.0], np.cumsum(negatives)])
    correct += positives.sum() - np.concatenate([[0.0], np.cumsum(positives)])
    if values[-1] == np.inf:
        correct = correct[:-1]  # no threshold is above it
    with np.errstate(invalid="ignore"):
        gaps = np.concatenate([[0.0], np.diff(values), [0.0]])[: len(correct)]
    best = np.flatnonzero(correct == correct.max())
    cut = int(best[np.argmax(gaps[best])])
    if cut == 0:
        return -np.inf
    if cut == len(values):
        return np.inf
    low, high = float(values[cut - 1]), float(values[cut])
    middle = low + (high - low) / 2
    return middle if low < middle < high else high
