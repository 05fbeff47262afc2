"""What ten best answers hit: Hits@10 and MRR@10, of one submission and of several.

Defined in numbers.md#10-obl2021; as the evaluator of openbiolink 0.1.4 counts (Breit et al. 2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kgdash.errors import KgdashError
from kgdash.studies.obl2021.top_ten import TOP

_MEASURES = ("h10", "mrr10")


@dataclass(frozen=True)
class TopTenScores:
    """Hits@10 and MRR@10 (0 for a miss) of some queries, each in [0, 1]."""

    h10: float
    mrr10: float


@dataclass(frozen=True)
class SubmissionScores(TopTenScores):
    """Scores of both sides pooled, the number of triples, and the scores of each side."""

    triples: int
    head: TopTenScores
    tail: TopTenScores

    def of(self, side: str) -> TopTenScores:
        """Return the scores of "head", "tail" or "both"."""
        return {"both": self, "head": self.head, "tail": self.tail}[side]


def evaluate(
    top10_heads: np.ndarray, top10_tails: np.ndarray, triples: np.ndarray
) -> SubmissionScores:
    """Compute Hits@10 and MRR@10 of predictions.

    :param top10_heads: integers, shape ``(n, 10)``, ids of entities or `NOBODY`
    :param top10_tails: the same for tails
    :param triples: int64 ids, shape ``(n, 3)``, in the order of the rows
    :raises KgdashError: if the shapes do not fit
    """
    for name, array in (("top10_heads", top10_heads), ("top10_tails", top10_tails)):
        if array.shape != (len(triples), TOP):
            raise KgdashError(
                f"{name}: expected shape ({len(triples):,}, {TOP}), a row per triple; found "
                f"{array.shape}"
            )
    head = _reciprocal_ranks(top10_heads, triples[:, 0])
    tail = _reciprocal_ranks(top10_tails, triples[:, 2])
    h10, mrr10 = _h10(np.concatenate([head, tail])), float(np.mean(np.concatenate([head, tail])))
    sides = (TopTenScores(_h10(side), float(np.mean(side))) for side in (head, tail))
    return SubmissionScores(h10, mrr10, len(triples), *sides)


def scores_table(names: Sequence[str], scores: Sequence[SubmissionScores]) -> pd.DataFrame:
    """Lay scores out: one row per submission, Hits@10 and MRR@10 per side.

    :return: columns ``submission`` (str), ``h10``, ``mrr10``, ``h10_head``, ``h10_tail``,
        ``mrr10_head``, ``mrr10_tail`` (float64)
    """
    columns = {"submission": list(names)}
    columns |= {measure: [getattr(s, measure) for s in scores] for measure in _MEASURES}
    columns |= {
        f"{measure}_{side}": [getattr(s.of(side), measure) for s in scores]
        for measure in _MEASURES
        for side in ("head", "tail")
    }
    return pd.DataFrame(columns)


def compare(scores: Sequence[SubmissionScores]) -> pd.DataFrame:
    """Summarise submissions that differ only in the seed.

    :param scores: one per submission
    :return: one row per measure ("h10", "mrr10") and side ("both", "head", "tail"): ``measure``,
        ``side``, ``mean``, ``standard_deviation`` (of the sample, n − 1; NaN for one submission),
        ``submissions``
    :raises KgdashError: if there are none
    """
    if not scores:
        raise KgdashError("there are no submissions to compare")
    rows = []
    for measure in _MEASURES:
        for side in ("both", "head", "tail"):
            values = [getattr(s.of(side), measure) for s in scores]
            deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
            rows.append((measure, side, float(np.mean(values)), deviation, len(values)))
    columns = ["measure", "side", "mean", "standard_deviation", "submissions"]
    return pd.DataFrame(rows, columns=columns)


def _reciprocal_ranks(top: np.ndarray, answers: np.ndarray) -> np.ndarray:
    hit = np.asarray(top) == answers[:, None]
    return np.where(hit.any(axis=1), 1.0 / (hit.argmax(axis=1) + 1), 0.0)


def _h10(reciprocal: np.ndarray) -> float:
    return float(np.mean(reciprocal > 0))
