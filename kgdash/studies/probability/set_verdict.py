"""What answer sets say, in words: whether the promise holds, and what groups mend at what cost.

Defined in numbers.md#24-answer-sets.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.progress import Progress, silent
from kgdash.statistics.estimate import number, percent, whole_or_half
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.studies.probability.answer_sets import AnswerSets

#: what the groups of a grouping are called, several and one
GROUP_NAMES = {
    "side": ("sides", "side"),
    "relation": ("relations", "relation"),
    "community": ("communities", "community"),
    "degree": ("parts by degree", "part by degree"),
    "relik": ("parts by ReliK", "part by ReliK"),
}

#: CovGap that is mended by less than this, as a share of what it was, is the same
_SAME = 0.1

#: test queries from which the promise is told to be kept or not
_FEWEST = 30


def coverage_verdict(sets: AnswerSets, progress: Progress = silent) -> str:
    """Say how often sets hold the true answer, against the promise, and how large they are."""
    found, promise = sets.summary(), 1 - sets.setting.epsilon
    kept = "as promised"
    if len(sets.queries) < _FEWEST:
        kept = f"too few to hold against the {percent(promise)} promised"
    elif sets.promise_p(np.zeros(len(sets.queries), np.int64), False, progress).item() <= LEVEL:
        says = "less" if found["coverage"] < promise else "more"
        kept = f"{says} often than the {percent(promise)} promised"
    elif not found["low"] <= promise <= found["high"]:
        kept = (
            f"no further from the {percent(promise)} promised than chance in validation brings it"
        )
    return (
        f"The true answer is in its set for **{percent(found['coverage'], 1)}** of "
        f"{len(sets.queries):,} test queries ({percent(found['low'], 1)} to "
        f"{percent(found['high'], 1)}), {kept}; a set holds **{number(found['mean_size'])}** "
        f"candidates on average, half of the sets {whole_or_half(found['median_size'])} or fewer."
    )


def comparison_verdict(table: pd.DataFrame, by: str) -> str:
    """Say whether a threshold for each group mends coverage by these groups, and what it costs.

    :param table: of `kgdash.studies.probability.answer_sets.compare_conditions`, by the same
    """
    rows = table.set_index("condition")
    plain, own = rows.loc["none"], rows.loc[by]
    several, one = GROUP_NAMES[by]
    ratio = own["mean_size"] / plain["mean_size"] if plain["mean_size"] else float("nan")
    change = own["covgap"] - plain["covgap"]
    says = "mends" if change < 0 else "worsens"
    if abs(change) <= _SAME * plain["covgap"]:
        says = "hardly changes"
    return (
        f"A threshold for each {one} **{says}** coverage by {several}: the mean gap to the promise "
        f"is {percent(own['covgap'], 1)} instead of {percent(plain['covgap'], 1)}, at "
        f"{number(ratio)} times the mean size."
    )
