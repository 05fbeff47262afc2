"""Tables of scores and ranks → what is wrong with a model's scores, in plain words.

Each check is one question with a stated threshold; its answer is a `Finding`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kgdash.health.distribution import FREQUENT
from kgdash.health.summary import constant_queries, query_numbers, score_summary, shared_best
from kgdash.ranking.metrics import POOLS, tie_summary
from kgdash.statistics.estimate import percent

#: worst first
LEVELS = ("fault", "notice", "fine", "unknown")

#: so many scores at one value are no accident, however few there are in all
_SOME = 10
#: share of queries from which on constant ones are a fault
_CONSTANT = 0.01
#: MRR by optimistic less MRR by pessimistic ranks, from which on ties are a fault
_GAP = 0.01
#: share of a query's rivals that have its best score, from which on it counts as saturated, and
#: share of saturated queries that is a fault
_SHARED, _SATURATED = 0.01, 0.01
#: share of distinct values among true scores below which it is noticed
_DISTINCT = 0.5
#: chance that a true answer beats a rival, below which it is a fault; guessing has 0.5
_BEATEN = 0.6


@dataclass(frozen=True)
class Evidence:
    """What one side's checks look at.

    ``spread``: of `kgdash.health.spread.score_spread`; ``distribution``: of
    `kgdash.health.distribution.score_distribution`; ``ranks``: None where the model's scores can
    not be ranked; ``tied_entities``: of `kgdash.health.ties.always_tied`.
    """

    spread: pd.DataFrame
    distribution: pd.DataFrame
    ranks: pd.DataFrame | None
    tied_entities: pd.DataFrame

    def of_side(self, side: str) -> Evidence:
        """Return the rows of "head", "tail" or "both"."""
        pool = POOLS[side]
        ranks = self.ranks
        return Evidence(
            self.spread[self.spread["side"].isin(pool)],
            self.distribution[self.distribution["side"] == side],
            None if ranks is None else ranks[ranks["side"].isin(pool)],
            self.tied_entities,
        )


@dataclass(frozen=True)
class Finding:
    """The answer of a check.

    ``level``: one of `LEVELS`; ``value``: the figure that was judged, NaN where there is none;
    ``text``: what was found, a sentence; ``rule``: from where on it is worse than fine.
    """

    check: str
    level: str
    value: float
    text: str
    rule: str


def find(evidence: Evidence, side: str = "both") -> list[Finding]:
    """Run all checks on one side.

    :return: one finding per check, the worst first
    """
    rows = evidence.of_side(side)
    summary = score_summary(rows.spread, side)
    findings = [check(rows, summary) for check in _CHECKS]
    if not summary["finite"].sum():
        findings = [_nothing_to_see(finding) for finding in findings]
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def _nothing_to_see(finding: Finding) -> Finding:
    """Return what a check can say of scores of which none is finite."""
    if finding.level != "fine" or finding.check == "infinite scores":
        return finding
    return replace(finding, level="unknown", value=np.nan, text="No score is finite.")


def _nan(evidence: Evidence, summary: pd.DataFrame) -> Finding:
    missing, scores = int(summary["nan"].sum()), int(summary["scores"].sum())
    text = "No score is NaN."
    if missing:
        text = (
            f"{missing:,} of {scores:,} scores are NaN ({_share(missing, scores)}): such a model "
            "can not be ranked. Training has probably diverged."
        )
    elif evidence.ranks is None:
        text = "Known answers, which the filter removes, score NaN: the model can not be ranked."
    level = "fault" if missing or evidence.ranks is None else "fine"
    return Finding("NaN", level, missing, text, "a fault from the first one on")


def _infinite(_: Evidence, summary: pd.DataFrame) -> Finding:
    count = int(summary[["plus_infinite", "minus_infinite"]].to_numpy().sum())
    plus, minus = (int(summary[f"{sign}_infinite"].sum()) for sign in ("plus", "minus"))
    text = "No score is infinite."
    if count:
        text = f"{plus:,} scores are +∞ and {minus:,} are −∞: those of one sign tie."
    level = "notice" if count else "fine"
    return Finding("infinite scores", level, count, text, "noticed from the first one on")


def _constant_model(evidence: Evidence, summary: pd.DataFrame) -> Finding:
    low, high = summary["minimum"].min(), summary["maximum"].max()
    infinite = summary[["plus_infinite", "minus_infinite"]].to_numpy().sum()
    constant = bool(low == high) and infinite == 0 and summary["finite"].sum() > 1
    text = f"Scores reach from {low:.4g} to {high:.4g}."
    if constant:
        text = f"All scores are {low:.4g}: the model tells nothing apart."
    elif not np.isfinite(low):
        text = "No score is finite."
    level = "fault" if constant or not np.isfinite(low) else "fine"
    return Finding("range", level, high - low, text, "a fault if all scores are one value")


def _constant_queries(evidence: Evidence, _: pd.DataFrame) -> Finding:
    spread = evidence.spread
    queries = query_numbers(spread)
    total = int(queries.nunique())
    constant = int(queries[constant_queries(spread)].nunique())
    text = "In every query the candidates' scores differ."
    if constant:
        text = (
            f"In {constant:,} of {total:,} distinct queries ({_share(constant, total)}) all "
            "candidates and the true answer have one score: their ranks are accidents."
        )
    level = _level(constant / max(total, 1), _CONSTANT, constant > 0)
    rule = f"noticed from the first one on, a fault from {_CONSTANT:.0%} of the queries on"
    return Finding("constant queries", level, constant, text, rule)


def _saturation(evidence: Evidence, _: pd.DataFrame) -> Finding:
    spread = evidence.spread
    top, rivals = shared_best(spread), (spread["candidates"] - 1).to_numpy()
    several = (top >= 2) & ~constant_queries(spread)
    saturated = several & (top >= _SHARED * rivals)
    count, share = int(saturated.sum()), float(saturated.mean()) if len(spread) else 0.0
    text = "Where scores differ at all, no two rivals of the true answer share their best one."
    if count:
        text = (
            f"In {count:,} of {len(spread):,} ranks ({percent(share, 1)}) the best rivals "
            f"share one score, at most {int(top[saturated].max()):,} of them: the top has no order."
        )
    elif several.any():
        text = (
            f"In {several.sum():,} of {len(spread):,} ranks ({percent(several.mean(), 1)}) several "
            f"rivals of the true answer share their best score, but nowhere {_SHARED:.0%} of them."
        )
    rule = (
        f"a fault where in {_SATURATED:.0%} of the ranks two or more candidates, and {_SHARED:.0%} "
        "of them, share the best score"
    )
    return Finding("shared best", _level(share, _SATURATED, False), share, text, rule)


def _at_end(end: str, level: str) -> Callable[[Evidence, pd.DataFrame], Finding]:
    """Make the check of scores that pile up at the maximum or the minimum."""

    def check(evidence: Evidence, summary: pd.DataFrame) -> Finding:
        rivals = summary.loc["candidates"]
        count, finite = int(rivals[f"at_{end}"]), int(rivals["finite"])
        share = count / finite if finite else 0.0
        counts = (count, finite), _once(evidence.spread, end)
        bad = all(at >= max(_SOME, FREQUENT * of) for at, of in counts)
        text = f"{share:.4%} of the candidates' scores are exactly the {end}, {rivals[end]:.4g}."
        if bad:
            text = (
                f"{percent(share, 1)} of the candidates' scores are exactly the {end}, "
                f"{rivals[end]:.4g}: scores are saturated or clipped there."
            )
        elif not finite:
            text = "No candidate's score is finite."
        rule = f"a {level} from {FREQUENT:.0%} and {_SOME} scores on"
        return Finding(f"at the {end}", level if bad else "fine", share, text, rule)

    return check


def _once(spread: pd.DataFrame, end: str) -> tuple[int, int]:
    """Count the scores that are the maximum or minimum, and all finite ones, of a query once."""
    queries = score_summary(spread[~query_numbers(spread).duplicated()]).loc["candidates"]
    return int(queries[f"at_{end}"]), int(queries["finite"])


def _frequent(evidence: Evidence, summary: pd.DataFrame) -> Finding:
    values = evidence.distribution[evidence.distribution["what"] == "value"]
    rivals = int(summary.loc["candidates", "scores"])
    rule = f"noticed from {FREQUENT:.0%} and {_SOME} scores on"
    first = values.iloc[0] if len(values) else None
    if first is None or first["candidates"] < max(_SOME, FREQUENT * rivals):
        text = f"No value makes up {FREQUENT:.0%} of the candidates' scores and {_SOME} of them."
        return Finding("frequent value", "fine", np.nan, text, rule)
    share = first["candidates"] / rivals
    text = (
        f"{percent(share, 1)} of the candidates' scores are exactly {first['left']:.6g}, as are "
        f"{int(first['true']):,} true scores: clamping, or embeddings that are equal or zero."
    )
    asked = int(query_numbers(evidence.spread).value_counts().max())
    if asked >= first["candidates"] / 2:
        text = text.replace("clamping,", f"one query that {asked:,} triples ask, clamping,")
    return Finding("frequent value", "notice", share, text, rule)


def _ties(evidence: Evidence, _: pd.DataFrame) -> Finding:
    rule = f"a fault where the MRR changes by more than {_GAP:g} between the two ends of all ties"
    if evidence.ranks is None:
        return Finding("ties", "unknown", np.nan, "Without ranks there are no ties to count.", rule)
    ties = tie_summary(evidence.ranks)
    text = "No true answer shares its score with another candidate."
    if ties["tied_share"] > 0:
        text = (
            f"{percent(ties['tied_share'], 2)} of the true answers share their score, the "
            f"most with {ties['largest_tie'] - 1:,} others; the MRR lies {ties['mrr_gap']:.3g} "
            "apart between optimistic and pessimistic ranks."
        )
    level = "fault" if ties["mrr_gap"] > _GAP else "fine"
    return Finding("ties", level, ties["mrr_gap"], text, rule)


def _distinct(evidence: Evidence, _: pd.DataFrame) -> Finding:
    finite = evidence.spread[np.isfinite(evidence.spread["score"])]
    # A triple has one score or two, depending on the model.
    triples = finite.drop_duplicates(["head", "relation", "tail", "score"])
    distinct = int(triples["score"].nunique())
    share = distinct / len(triples) if len(triples) else np.nan
    text = f"{distinct:,} of {len(triples):,} finite scores of true answers are distinct."
    level = _level(-share, np.inf, share < _DISTINCT and len(triples) >= _SOME)
    rule = f"noticed if fewer than {_DISTINCT:.0%} of them are distinct"
    return Finding("distinct true scores", level, share, text, rule)


def _above(evidence: Evidence, _: pd.DataFrame) -> Finding:
    rule = f"a fault below {_BEATEN:g}; guessing has 0.5"
    ranks = evidence.ranks
    rivals = 0 if ranks is None else int((ranks["candidates"] - 1).sum())
    if ranks is None or not rivals:
        text = "Without ranks it is not known how often a true answer beats a candidate."
        return Finding("true above candidates", "unknown", np.nan, text, rule)
    beaten = float((ranks["candidates"] - ranks["realistic"]).sum() / rivals)
    text = f"A true answer scores above a candidate of its query with probability {beaten:.3f}."
    level = "fault" if beaten < _BEATEN else "fine"
    return Finding("true above candidates", level, beaten, text, rule)


def _tied_entities(evidence: Evidence, _: pd.DataFrame) -> Finding:
    groups = evidence.tied_entities["group"]
    count, sets = len(groups), groups.nunique()
    text = "Any two entities' scores differ in some query."
    if count:
        text = (
            f"{count:,} entities, in {sets:,} group{'s' * (sets != 1)}, have equal scores in every "
            "query: no prediction tells them apart. Their embeddings are equal, or zero."
        )
    level = "notice" if count else "fine"
    return Finding("entities that always tie", level, count, text, "noticed from two on")


_CHECKS: tuple[Callable[[Evidence, pd.DataFrame], Finding], ...] = (
    _nan,
    _infinite,
    _constant_model,
    _constant_queries,
    _saturation,
    _at_end("maximum", "fault"),
    _at_end("minimum", "notice"),
    _frequent,
    _ties,
    _distinct,
    _above,
    _tied_entities,
)


def _level(value: float, fault: float, noticed: bool) -> str:
    if value >= fault:
        return "fault"
    return "notice" if noticed else "fine"


def _share(count: int, total: int) -> str:
    return percent(count / max(total, 1), 2)
