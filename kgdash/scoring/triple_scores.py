"""Scores of single triples."""

import numpy as np
import torch

from kgdash.progress import Progress, silent, stretch
from kgdash.scoring.protocol import Scorer, refuse_nan

#: triples scored between two reports
_BATCH = 2**15


def triple_scores(scorer: Scorer, triples: np.ndarray, progress: Progress = silent) -> np.ndarray:
    """Score single triples as candidates for the tail.

    :param triples: int64, shape ``(n, 3)``
    :return: float64, ``(n,)``
    :raises KgdashError: if a score is NaN
    """
    scores = np.empty(len(triples))
    for start in range(0, len(triples), _BATCH):
        part = torch.from_numpy(np.array(triples[start : start + _BATCH], order="C"))
        report = stretch(progress, start, start + len(part), len(triples))
        found = scorer.score_triples(part, progress=report)
        scores[start : start + _BATCH] = refuse_nan(found).cpu().numpy()
        report(1, 1)
    return scores
