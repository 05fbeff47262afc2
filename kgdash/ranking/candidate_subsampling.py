"""What ranks would be among fewer candidates: how plain metrics depend on |E|.

Defined in numbers.md#15-metric-guide.

Every query keeps its true answer and m − 1 of its N − 1 rivals, drawn uniformly without
replacement. Of the r − 1 rivals that are ranked before it, X stay, a hypergeometric number, so that
the expectations are exact:

- mean rank: E[X + 1] = 1 + (r − 1) (m − 1) / (N − 1);
- reciprocal rank: E[1 / (X + 1)] = N / (r m) · (1 − C(N − r, m) / C(N, m)), since
  C(r − 1, x) / (x + 1) = C(r, x + 1) / r and the sum over x then is a whole distribution but for
  x + 1 = 0 (Vandermonde);
- Hits@k: P(X < k).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import betaln, digamma

from kgdash.errors import KgdashError, check_name
from kgdash.graph.sorted_slices import distinct_rows
from kgdash.ranking.metrics import POOLS

#: shares of the rivals that stay
SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)

WHOLE_RANKS = ("optimistic", "pessimistic")


def expected_metrics(
    ranks: pd.DataFrame,
    side: str = "both",
    rank_type: str = "pessimistic",
    k: int = 10,
    shares: Sequence[float] = SHARES,
) -> pd.DataFrame:
    """Compute the metrics to expect if only a share of each query's rivals were candidates.

    :param ranks: of `kgdash.runs.Run.ranks`
    :param side: "head", "tail", "both" or "relation"
    :param rank_type: "optimistic" or "pessimistic": whole ranks, for which the formulas hold
    :param shares: each in (0, 1]
    :return: one row per share, as given: ``share``, ``candidates`` (mean number left, the true one
        included), and float64 expectations ``inverse_harmonic_mean_rank``, ``hits_at_k``,
        ``arithmetic_mean_rank``, ``adjusted_arithmetic_mean_rank_index``,
        ``adjusted_inverse_harmonic_mean_rank``, ``adjusted_hits_at_k`` (NaN where a single
        candidate is left everywhere)
    :raises KgdashError: if a choice is unknown or out of range, or there are no such ranks
    """
    check_name("rank type", rank_type, WHOLE_RANKS, "fewer candidates")
    check_name("side", side, POOLS, "fewer candidates")
    if k < 1 or not all(0 < share <= 1 for share in shares):
        raise KgdashError(f"expected k ≥ 1 and shares in (0, 1]; found {k} and {list(shares)}")
    rows = ranks.loc[ranks["side"].isin(POOLS[side]), [rank_type, "candidates"]]
    if not len(rows):
        raise KgdashError(f"there are no ranks of side {side}")
    pairs, _, _, times = distinct_rows(rows.to_numpy(dtype=np.int64))
    rank, before = pairs.T
    return pd.DataFrame([_expected(rank, before, times, k, share) for share in shares])


def _expected(
    rank: np.ndarray, before: np.ndarray, times: np.ndarray, k: int, share: float
) -> dict[str, float]:
    """Compute one row; ``before`` are the candidates N, ``times`` how often each pair occurs."""
    left = 1 + np.floor(share * (before - 1) + 0.5).astype(np.int64)

    def mean(values: np.ndarray) -> float:
        return float(np.average(values, weights=times))

    none_stays = np.exp(_log_choose(before - rank, left) - _log_choose(before, left))
    reciprocal = mean(before / (rank * left) * (1 - none_stays))
    hit = np.ones(len(rank))
    late = rank > k
    n, m, some = before[late], left[late], np.arange(k)[:, None]
    # SciPy's hypergeometric distribution takes a minute for the ranks of FB15k-237.
    logs = _log_choose(rank[late] - 1, some) + _log_choose(n - rank[late], m - 1 - some)
    hit[late] = np.exp(logs - _log_choose(n - 1, m - 1)).sum(axis=0)
    hits, rivals = mean(hit), mean(left - 1)
    further = mean((rank - 1) * (left - 1) / np.maximum(before - 1, 1))
    # H(m) / m: the mean reciprocal rank of a random order
    chance = mean((digamma(left + 1) + np.euler_gamma) / left)
    hits_by_chance = mean(np.minimum(k, left) / left)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "share": share,
            "candidates": rivals + 1,
            "inverse_harmonic_mean_rank": reciprocal,
            f"hits_at_{k}": hits,
            "arithmetic_mean_rank": further + 1,
            "adjusted_arithmetic_mean_rank_index": float(1 - 2 * np.divide(further, rivals)),
            "adjusted_inverse_harmonic_mean_rank": float(
                np.divide(reciprocal - chance, 1 - chance)
            ),
            "adjusted_hits_at_k": float(np.divide(hits - hits_by_chance, 1 - hits_by_chance)),
        }


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return ln C(n, k), -inf where k is not in [0, n]."""
    possible = (k >= 0) & (k <= n)
    inside = np.where(possible, k, 0)
    return np.where(possible, -np.log1p(n) - betaln(n - inside + 1, inside + 1), -np.inf)
