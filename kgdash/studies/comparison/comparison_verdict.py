"""Which run is best, and which others are not told apart from it, by the paired tests.

Rules: numbers.md#22-verdicts.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.estimate import number
from kgdash.statistics.multiple_testing import holm, told_apart
from kgdash.statistics.paired_tests import shared_p
from kgdash.studies.comparison.comparison import Ranks, reciprocal_ranks, triples_of


def shared_tests(ranks: Ranks, side: str = "both", rank_type: str = "realistic") -> np.ndarray:
    """Test every pair of runs as triples of one head, relation or tail are alike.

    :param ranks: of `kgdash.studies.comparison.comparison.compared_ranks`, k runs
    :return: p-values of `kgdash.statistics.paired_tests.shared_p` after Holm's correction: float64
        ``(k (k − 1) / 2,)``, pairs in the order of `kgdash.statistics.paired_tests.paired_tests`
    """
    values = reciprocal_ranks(ranks, side, rank_type)
    first, second = np.array(list(combinations(range(values.shape[1]), 2))).T
    return holm(shared_p(values[:, first] - values[:, second], triples_of(ranks, side)))


def with_shared(tests: pd.DataFrame, shared: np.ndarray) -> pd.DataFrame:
    """Put ``p_shared``, of `shared_tests`, beside the p-values of `paired_tests`."""
    tests = tests.copy()
    tests.insert(tests.columns.get_loc("p_holm") + 1, "p_shared", shared)
    return tests


def comparison_verdict(tests: pd.DataFrame) -> str:
    """Say which run has the highest MRR, which it is better than, and which may be as good.

    :param tests: of `kgdash.statistics.paired_tests.paired_tests` `with_shared`, at least one pair
    """
    means = dict(zip(tests["a"], tests["mean_a"], strict=True))
    means |= dict(zip(tests["b"], tests["mean_b"], strict=True))
    best = max(means, key=lambda run: means[run])
    triples = int(tests["triples"].iloc[0])
    said = f"**{best}** has the highest MRR, {number(means[best])}"
    if triples < SMALL:
        return f"{said}, over only {triples} triples: too few to call it better."
    if tests["p_shared"].isna().any():
        return f"{said}, over too few heads, relations and tails to call it better."
    own = tests[(tests["a"] == best) | (tests["b"] == best)]
    others = own["a"].where(own["b"] == best, own["b"])
    apart = told_apart(own)
    beaten, alike = (
        ", ".join(f"{run} ({number(means[run])})" for run in others[which])
        for which in (apart, ~apart)
    )
    if not alike:
        return f"{said}, more than chance above {beaten}."
    if not beaten:
        return f"{said}, but is not told apart from {alike}."
    return f"{said}, more than chance above {beaten}; {alike} may be as good."
