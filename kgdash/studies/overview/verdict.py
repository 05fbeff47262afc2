"""Verdicts: sentences made from values by rules (numbers.md#22-verdicts).

A sentence claims a difference only where the two intervals do not overlap, calls what they do not
separate the same, and says how few triples there are below 30.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.progress import duration_text
from kgdash.statistics.estimate import Estimate, number, percent, with_interval
from kgdash.statistics.sampled_mean import SampledMean

#: p-values up to which a hypothesis is given up
_CHANCE = 0.05

#: a Hits@10 of guessing that is worth a word
_GUESSED = 0.1


def performance_verdict(
    mrr: Estimate, hits_at_10: Estimate, repeated: int = 0, by_chance: float = 0.0
) -> str:
    """Say how well held-out triples are ranked.

    :param mrr: mean reciprocal rank of the test triples, both sides
    :param hits_at_10: share of their queries whose answer is among the ten best
    :param repeated: how many of all test triples are train triples, too
    :param by_chance: the share that random orders give; told from a tenth on
    """
    if not mrr.n:
        return "There are no test triples, so nothing is known of how well it ranks held-out facts."
    if mrr.n < SMALL:
        return f"Only {mrr.n} held-out triples, which say little: MRR {with_interval(mrr)}."
    of = "held-out facts"
    if repeated:
        of = f"test triples, of which {repeated:,} are train triples and not held out"
    guessed = f" ({percent(by_chance)} by chance)" if by_chance >= _GUESSED else ""
    return (
        f"Of {of}, the true answer is among the ten best in {percent(hits_at_10.value)} of "
        f"queries{guessed}: MRR {with_interval(mrr)}."
    )


def region_verdict(communities: pd.DataFrame, is_exact: bool = True, p_chance: float = 0.0) -> str:
    """Say where ReliK is highest and lowest, if intervals tell communities apart.

    :param communities: ``label``, ``relik``, ``low``, ``high``, ``triples``; and of the held-out
        triples inside ``mrr``, ``mrr_low``, ``mrr_high``, ``evaluated``. Intervals of a level
        that allows for picking the extremes of so many
    :param is_exact: False while ReliK is counted
    :param p_chance: of the difference of the extremes, allowing for their choice
    """
    if not is_exact:
        return "ReliK is still being counted: where the model can be trusted follows."
    large = communities[communities["triples"] >= SMALL].sort_values("relik")
    if len(large) < 2:
        return (
            f"No two communities have {SMALL} triples: by ReliK, no part can be told from another."
        )
    lowest, highest = large.iloc[0], large.iloc[-1]
    best, worst = _relik(highest), _relik(lowest)
    if not best.is_above(worst) or not p_chance <= _CHANCE:
        return (
            f"Its {len(large)} communities are not told apart by ReliK "
            f"({with_interval(worst)} to {with_interval(best)})."
        )
    most, least = (_with_others(row, large) for row in (highest, lowest))
    return (
        f"Trust it most in the community {most}, least in {least}: mean "
        f"ReliK {number(best.value)} against {number(worst.value)}, more than chance. "
        + _agreement(_mrr(highest), _mrr(lowest))
    )


def _with_others(row: pd.Series, communities: pd.DataFrame) -> str:
    """Name a community, and how many others have the same ReliK."""
    others = int(np.isclose(communities["relik"], row["relik"], rtol=1e-9, atol=0).sum()) - 1
    return f"“{row['label']}”" + (f" and {others:,} alike" if others else "")


def exact_sentence(tested: int, known: int) -> str:
    """Say that the values are exact.

    :param tested: test triples; ``known``: known triples
    """
    ranked = f"the ranks of all {tested:,} test triples, and " if tested else ""
    return f"Exact: {ranked}the ReliK of all {known:,} known triples."


def sampled_sentence(
    hours: tuple[float, float],
    width: float,
    ranked: SampledMean | None,
    reliable: SampledMean | None,
) -> str:
    """Say what was drawn, and why.

    :param hours: of a core that ReliK of all known triples takes at least, and that of a sample
    :param width: of the intervals, at most
    :param ranked: the MRR; None without test triples; ``reliable``: ReliK; None if it is not
        counted
    """
    parts, said = [], []
    if ranked is not None:
        parts.append(f"the ranks of {_share(ranked)} test triples")
    if reliable is not None:
        parts.append(
            f"the ReliK of {_share(reliable)} known triples, each counted exactly, and of all "
            "that share their heads or tails"
        )
    if parts:
        said.append(f"Sampled, at random within relations: {'; '.join(parts)}")
        said.append(f"95% intervals, those of MRR and ReliK at most {width:g} wide")
    if reliable is None:
        said.append(
            f"A sample of ReliK takes {duration_text(3600 * hours[1])} of a core or more: choose a "
            "width, and it is counted"
        )
    said.append(
        f"ReliK of all triples would take {duration_text(3600 * hours[0])} of a core or more: "
        "Prepare counts it"
    )
    return ". ".join(said) + "."


def _share(drawn: SampledMean) -> str:
    return f"all {drawn.n:,}" if drawn.exact else f"{drawn.n:,} of {drawn.population:,}"


def _agreement(best: Estimate, worst: Estimate) -> str:
    """Say whether held-out triples rank the two communities as ReliK does."""
    counts = f"n = {best.n:,} and {worst.n:,}"
    if min(best.n, worst.n) < SMALL:
        return f"Too few held-out triples lie there ({counts}) to see whether ranks agree."
    values = f"MRR {number(best.value)} against {number(worst.value)}, {counts}"
    if best.is_above(worst):
        return f"Held-out triples agree: {values}."
    if worst.is_above(best):
        return f"Held-out triples say the opposite: {values}."
    return f"Held-out triples do not tell the two apart: {values}."


def _relik(row: pd.Series) -> Estimate:
    return Estimate(row["relik"], row["low"], row["high"], int(row["triples"]))


def _mrr(row: pd.Series) -> Estimate:
    return Estimate(row["mrr"], row["mrr_low"], row["mrr_high"], int(row["evaluated"]))
