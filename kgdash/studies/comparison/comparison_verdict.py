"""Which run is best, and which others are not told apart from it, by the paired tests.

Rules: numbers.md#22-verdicts.
"""

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.estimate import number

#: of p-values after Holm's correction
_LEVEL = 0.05


def comparison_verdict(tests: pd.DataFrame) -> str:
    """Say which run has the highest MRR, which it is better than, and which may be as good.

    :param tests: of `kgdash.statistics.paired_tests.paired_tests`, at least one pair
    """
    means = dict(zip(tests["a"], tests["mean_a"], strict=True))
    means |= dict(zip(tests["b"], tests["mean_b"], strict=True))
    best = max(means, key=lambda run: means[run])
    triples = int(tests["triples"].iloc[0])
    said = f"**{best}** has the highest MRR, {number(means[best])}"
    if triples < SMALL:
        return f"{said}, over only {triples} triples: too few to call it better."
    own = tests[(tests["a"] == best) | (tests["b"] == best)]
    others = own["a"].where(own["b"] == best, own["b"])
    apart = own["p_holm"] < _LEVEL
    beaten, alike = (
        ", ".join(f"{run} ({number(means[run])})" for run in others[which])
        for which in (apart, ~apart)
    )
    if not alike:
        return f"{said}, more than chance above {beaten}."
    if not beaten:
        return f"{said}, but is not told apart from {alike}."
    return f"{said}, more than chance above {beaten}; {alike} may be as good."
