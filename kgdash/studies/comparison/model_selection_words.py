"""The verdict on picking models by ReliK, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def verdict_in_words(verdict: Mapping[str, Any], kind: str, level: float = 0.95) -> list[str]:
    """Say how often ReliK picks the right model, and whether picking by it pays.

    :param verdict: of `kgdash.studies.comparison.model_selection.verdict`
    :param kind: of the parts, "communities" say
    :param level: of its intervals
    :return: two sentences
    """
    right = (
        f"ReliK picks a best model in {verdict['right']:,} of {verdict['parts']:,} {kind} "
        f"({verdict['share']:.0%}, {level:.0%} interval {verdict['low']:.0%} to "
        f"{verdict['high']:.0%}), picking at random would in {verdict['chance']:.0%}, "
        f"{verdict['overall']} everywhere does in {verdict['overall_share']:.0%}."
    )
    gain, low, high = (verdict[f"regret_gain{end}"] for end in ("", "_low", "_high"))
    cost = (
        f"It costs {verdict['regret']:.3f} MRR on average against knowing the best, "
        f"{verdict['overall']} everywhere {verdict['overall_regret']:.3f}"
    )
    if pd.isna(low):
        return [right, f"{cost}; too few {kind} to tell whether that is more than chance."]
    ends = " to ".join(f"{end:.3f}".replace("-", "−") for end in (low, high))
    between = f"{abs(gain):.3f} ({level:.0%} interval of the gain {ends})"
    if low > 0:
        return [right, f"{cost}: picking by ReliK gains {between}."]
    if high < 0:
        return [right, f"{cost}: picking by ReliK loses {between}."]
    return [right, f"{cost}: the difference of {between} can not be told from chance."]
