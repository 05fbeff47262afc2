"""What remains of a correlation once something is taken out, in plain words."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: within so much of the plain coefficient, it has hardly changed
_SAME = 0.1


def remains_in_words(
    table: pd.DataFrame, controls: str = "degree", coefficient: str = "spearman"
) -> str:
    """Say what remains of the correlation of ReliK with ranks once controls are taken out.

    :param table: of `triple_partials`, or the rows of one task of
        `subgraph_partials`
    :param controls: a set of them that is in the table
    :param coefficient: "spearman" or "pearson"
    """
    rows = table[table["coefficient"] == coefficient].set_index("controls")
    plain, partial = (rows.loc[name].to_dict() for name in ("none", controls))
    symbol = "ρ" if coefficient == "spearman" else "r"
    if pd.isna(plain["value"]) or pd.isna(partial["value"]):
        return f"Too little is left to correlate once {controls} is taken out."
    before = f"{symbol} is {plain['value']:.2f} plain"
    after = f"{partial['value']:.2f} once {controls} is taken out"
    if _holds_zero(plain):
        if _holds_zero(partial):
            return (
                f"{before} and {after}: neither can be told from 0, so that there is nothing to "
                "explain."
            )
        return f"{before}, which can not be told from 0, but {after}: {controls} hid it."
    if _holds_zero(partial):
        return (
            f"{before} and {after}, which can not be told from 0: {controls} accounts for what "
            "ReliK has to do with ranks here."
        )
    share = partial["value"] / plain["value"]
    if share < 0:
        verdict = "it turns into its opposite"
    elif share > 1 + _SAME:
        verdict = f"{controls} hid a part of it"
    elif share > 1 - _SAME:
        verdict = f"nearly all of it remains, {controls} explains next to nothing"
    else:
        verdict = f"{share:.0%} of it remains, {controls} explains the rest"
    return f"{before} and {after}: {verdict}."


def _holds_zero(row: dict[str, Any]) -> bool:
    return bool(row["low"] <= 0 <= row["high"])
