"""What the agreement of runs says, in plain words: never a word stronger than the interval.

Rules: numbers.md#25-agreement-of-runs.
"""

import math
from collections.abc import Mapping

import pandas as pd

from kgdash.breakdowns.breakdown import SMALL
from kgdash.statistics.estimate import Estimate, number, percent
from kgdash.statistics.multiple_testing import LEVEL
from kgdash.studies.agreement.agreement import EQUALLY_WELL, Agreement
from kgdash.studies.agreement.agreement_report import CHANCE
from kgdash.studies.agreement.votes import FEWEST_VOTES


def agreement_verdict(found: Agreement, summary: Mapping[str, Estimate]) -> str:
    """Say how often the runs disagree, and whether a vote helps.

    :param summary: of `kgdash.studies.agreement.agreement_report.agreement_summary`
    """
    k = found.setting.k
    place = "comes first" if k == 1 else f"is among the first {k}"
    ambiguity = summary["ambiguity"]
    if ambiguity.n < 2 * SMALL:
        return (
            f"{len(found.runs)} runs, but only {ambiguity.n} queries: too few to say how often "
            f"they disagree ({percent(ambiguity.value)} of these)."
        )
    which = "that rank about equally well"
    if found.setting.margin > EQUALLY_WELL:
        mrr = found.overview.loc[found.overview["competes"], "mrr"]
        which = f"with an MRR of {number(float(mrr.min()))} to {number(float(mrr.max()))}"
    said = (
        f"**{len(found.runs)} runs {which} disagree on "
        f"{with_ends(ambiguity)} of the queries**: by some the true answer {place}, by others not."
    )
    return f"{said} {_vote(found, summary)}"


def _vote(found: Agreement, summary: Mapping[str, Estimate]) -> str:
    pairs, votes, removes = (summary[m] for m in ("pairwise", "vote_pairwise", "vote_removes"))
    if len(found.runs) < FEWEST_VOTES:
        return f"Whether votes disagree less takes {FEWEST_VOTES} runs or more."
    if not pairs.value:
        return "There is nothing for a vote to settle."
    told = (
        f"Votes of half of them disagree on {percent(votes.value)}, two single runs on "
        f"{percent(pairs.value)}"
    )
    if removes.low > 0:
        return f"{told}: voting removes {with_ends(removes)} of the conflicts."
    if removes.high < 0:
        return f"{told}: voting makes it worse."
    return f"{told}: whether voting helps is not told from chance."


def foreseen_verdict(table: pd.DataFrame) -> str:
    """Say whether a low ReliK of the entity that a query names foresees a conflict.

    :param table: of `kgdash.studies.agreement.agreement_report.foreseen_conflicts`
    """
    row = table.set_index("by").loc["relik"]
    auc = f"AUC {number(row['roc_auc'])}"
    if math.isnan(row["low"]):
        return "Too few queries of either kind to say whether ReliK foresees conflicts."
    auc += f" ({number(row['low'])} to {number(row['high'])})"
    if (row["low"] > CHANCE or row["high"] < CHANCE) and not row["p"] <= LEVEL:
        return (
            f"Whether ReliK foresees conflicts, these queries do not tell: {auc}; dealt out among "
            f"entities or relations, it does as well by chance (p {number(row['p'])})."
        )
    if row["low"] > CHANCE:
        return f"A **low ReliK** of the entity that a query names foresees conflicts: {auc}."
    if row["high"] < CHANCE:
        return f"Conflicts are where the ReliK of the entity that a query names is **high**: {auc}."
    return f"Whether ReliK of the entity that a query names foresees conflicts is not told: {auc}."


def with_ends(estimate: Estimate) -> str:
    """Write a share with its interval, as per cent."""
    if math.isnan(estimate.low):
        return percent(estimate.value)
    return f"{percent(estimate.value)} ({percent(estimate.low)} to {percent(estimate.high)})"
