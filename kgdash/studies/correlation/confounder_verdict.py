"""Whether degree and frequency account for ReliK, in plain words: no word beyond the interval.

Rules: numbers.md#22-verdicts.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.estimate import Estimate, number, percent, with_interval
from kgdash.statistics.multiple_testing import LEVEL, direction

#: a partial coefficient within so large a part of the plain one is nearly all of it
_SAME = 0.1


def describe_partials(
    table: pd.DataFrame, controls: str = "degree", coefficient: str = "spearman"
) -> str:
    """Say what remains of the correlation of ReliK with ranks once controls are taken out.

    :param table: of `kgdash.studies.correlation.confounders.triple_partials`, or the rows of one
        task of `kgdash.studies.correlation.subgraph_confounders.subgraph_partials`
    :param controls: a set of them that is in the table
    :param coefficient: "spearman" or "pearson"
    """
    rows = table[table["coefficient"] == coefficient].set_index("controls")
    plain, partial = (rows.loc[name].to_dict() for name in ("none", controls))
    if pd.isna(plain["value"]) or pd.isna(partial["value"]):
        return f"Too little is left to correlate once {controls} is taken out."
    if plain["rows"] < SMALL:
        return f"Of {plain['rows']:,} triples or subgraphs nothing is claimed: they are too few."
    symbol = "ρ" if coefficient == "spearman" else "r"
    values = f"{symbol} {_written(plain)}, and {_written(partial)} once {controls} is taken out"
    text = f"**{_claim(plain, partial, controls)}**: {values}."
    if direction(partial):
        text += f" It is taken out as a straight line: what goes with {controls} otherwise is left."
    return text


def _claim(plain: dict[str, Any], partial: dict[str, Any], controls: str) -> str:
    if not direction(plain):
        if not direction(partial):
            return (
                "ReliK and ranks are not told from unrelated, so that there is nothing to explain"
            )
        return f"{controls.capitalize()} hid that ReliK goes with ranks"
    if not direction(partial):
        return f"What ReliK says of ranks beyond {controls} is not told from chance"
    share = partial["value"] / plain["value"]
    if share < 0:
        return f"Without {controls}, what ReliK says of ranks turns into its opposite"
    if share > 1 + _SAME:
        return f"ReliK says more of ranks than it seems, {controls} hid a part of it"
    if share > 1 - _SAME:
        return f"Nearly all of what ReliK says of ranks remains without {controls}"
    return (
        f"Some of what ReliK says of ranks is {controls}: {percent(share)} of the correlation "
        "remains"
    )


def factor_verdict(tests: pd.DataFrame, names: dict[str, str]) -> str:
    """Say with which count ReliK goes, and "most" only where it is told from all others.

    :param tests: of `kgdash.studies.correlation.confounders.factor_tests`
    :param names: factor -> what it is called in a sentence
    """
    if (tests["triples"] < SMALL).any():
        return "Nor is it of what ReliK goes with."
    counts = tests[tests["value"].notna() & (tests["measure"] == "spearman")]
    sizes = counts["value"].abs()
    told = counts.apply(direction, axis=1) != 0
    if not told.any():
        return "With neither degree nor frequency does ReliK rise or fall beyond chance."
    best = sizes[told].idxmax()
    row = counts.loc[best].to_dict()
    way = "rises" if row["value"] > 0 else "falls"
    is_behind = (counts["behind_low"] > 0) & (counts["p_behind"] <= LEVEL)
    is_rival = ~is_behind | (sizes > sizes[best])
    rivals = counts[is_rival].drop(best, errors="ignore").sort_values("value", key=abs)
    rho = f"the {names[row['factor']]}: ρ {_written(row)}"
    if not len(rivals):
        return f"ReliK {way} most with {rho}."
    others = [
        f"the {names[each['factor']]} (ρ {number(each['value'])})"
        for each in rivals[::-1].to_dict("records")
    ]
    listed = " or ".join([*[", ".join(others[:-1])] * (len(others) > 1), others[-1]])
    return (
        f"ReliK {way} with {rho}. Whether it goes more closely with that than with {listed}, the "
        "triples do not tell."
    )


def _written(row: dict[str, Any]) -> str:
    return with_interval(Estimate(row["value"], row["low"], row["high"], 0))
