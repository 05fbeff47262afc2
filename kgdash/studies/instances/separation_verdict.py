"""Whether ReliK tells true from false instances, in sentences that its intervals carry.

Rules: numbers.md#22-verdicts.
"""

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.auc_by_counts import HALF, is_told
from kgdash.statistics.estimate import Estimate, number, with_interval
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.studies.instances.separation import ALL, Comparison

#: groups that are named where many point the wrong way
_NAMED = 5

_NAMES = {"reciprocal_rank": "the reciprocal rank", "score": "the raw score"}


def separation_verdict(found: Comparison) -> list[str]:
    """Say how well ReliK separates, beside the other measures, and where it points the wrong way.

    :param found: ReliK's measure first
    :return: one or two sentences
    """
    relik, *others = found.by_measure
    row = found.by_measure[relik].set_index("group").loc[ALL]
    auc, chance = with_interval(_auc(row)), float(row["auc_chance"])
    if (count := int(row["questions"])) < SMALL:
        return [f"ROC-AUC {auc} of {count} questions, too few to claim anything of them."]
    if is_above_chance(row):
        said = f"ReliK tells true from false: ROC-AUC {auc}"
    elif is_below_chance(row):
        said = f"ReliK points the wrong way: ROC-AUC {auc}"
    else:
        said = f"Whether ReliK tells true from false is not told from chance: ROC-AUC {auc}"
    beside: dict[str, list[str]] = {}
    for measure in others:
        beside.setdefault(_against(found, measure), []).append(_value(found, measure))
    said = ", ".join([said, *(f"{how} {' and '.join(what)}" for how, what in beside.items())])
    if is_told(chance):
        said += f"; the number of groundings alone gives about {number(chance)}"
    said += "."
    groups = found.by_measure[relik]
    large = groups[groups["questions"] >= SMALL]
    # "all" has no p-value of this kind.
    wrong = large[is_below_chance(large) & (large["p_holm"] < LEVEL)]
    if not len(wrong):
        return [said]
    first = wrong.head(_NAMED).itertuples()
    named = ", ".join(f"{row.group} ({number(row.roc_auc)})" for row in first)
    if more := len(wrong.index[_NAMED:]):
        named += f" and {more:,} more"
    return [
        said,
        f"It points the wrong way on {named}: below 0.5 with the whole interval, and by Mann and "
        "Whitney's test after Holm's correction.",
    ]


def is_above_chance(rows: pd.DataFrame | pd.Series) -> pd.Series | bool:
    """Tell where the interval of the AUC lies above 0.5 and above what groundings alone give.

    Groundings that share triples give less than `auc_chance` says, down to 0.5: of what lies
    between the two nothing is claimed, either way.

    :param rows: of `kgdash.studies.instances.separation.separation`, or one of them
    """
    return rows["auc_low"] > np.fmax(rows["auc_chance"], HALF)


def is_below_chance(rows: pd.DataFrame | pd.Series) -> pd.Series | bool:
    """Tell where the interval of the AUC lies below 0.5 and below what groundings alone give."""
    return rows["auc_high"] < np.fmin(rows["auc_chance"], HALF)


def _against(found: Comparison, measure: str) -> str:
    row = found.difference(measure)
    if row["low"] > 0:
        return "better than"
    return "worse than" if row["high"] < 0 else "not told apart from"


def _value(found: Comparison, measure: str) -> str:
    name = _NAMES[measure.removesuffix("_answer")]
    return f"{name} ({number(found.overall(measure)['roc_auc'])})"


def _auc(row) -> Estimate:
    return Estimate(row["roc_auc"], row["auc_low"], row["auc_high"], int(row["n_true"]))
