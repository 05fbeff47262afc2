"""The trust card of one prediction: five figures and a line; what is not known says so.

Defined in numbers.md#26-the-trust-card.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kgdash.errors import KgdashError
from kgdash.graph.communities import communities_fit, describe_communities, find_communities
from kgdash.progress import Progress, silent
from kgdash.runs import Run
from kgdash.statistics.estimate import number, percent
from kgdash.studies.explanations.explanation import Explanation
from kgdash.studies.explanations.verdict import rank_change
from kgdash.studies.inspection.inspection import Inspection
from kgdash.studies.inspection.other_runs import with_others
from kgdash.studies.trust.basis import EPSILON, Basis, card_basis, is_at_hand, questions
from kgdash.studies.trust.competing import distinct

#: an answer up to this rank is one that a run gives
TOP = 10

#: what a set is to hold
PROMISE = f"{100 * (1 - EPSILON):g}%"

#: below these, a probability is a doubt, or leaves one unsure; so does a set of more answers
DOUBTFUL, SURE, SMALL_SET = 0.1, 0.5, 10

#: test queries from which a coverage is told
_FEWEST = 30

#: what leaves no doubt, some, or much, and what can not be judged
LEVELS = ("likely", "unsure", "doubtful", "unknown")


@dataclass(frozen=True)
class CardFigure:
    """One figure of a card.

    ``name``: key; ``text``: what stands there, "–" if unknown; ``beneath``: a few words; ``about``:
    what it is of, or why it is unknown; ``level`` of `LEVELS`; ``values``: plain data, empty if
    unknown.
    """

    name: str
    text: str
    beneath: str
    about: str
    level: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class TrustCard:
    """How far a prediction can be trusted.

    ``side``: the open side of the query that the triple answers; ``line``: in words, the doubt
    first; ``level`` of `LEVELS`; ``figures``: answer set, probability, ReliK, agreement, reason;
    ``command``: computes what is not prepared, or None.
    """

    side: str
    line: str
    level: str
    figures: tuple[CardFigure, ...]
    command: str | None

    def about(self) -> dict[str, Any]:
        """Return the card as plain data."""
        figures = {figure.name: asdict(figure) for figure in self.figures}
        for figure in figures.values():
            figure.pop("name")
        return asdict(self) | {"figures": figures}


def trust_card(
    found: Inspection,
    others: Mapping[str, Run],
    side: str = "tail",
    why: Explanation | None = None,
    unasked: int = 0,
    progress: Progress = silent,
) -> TrustCard:
    """Make the card of a whole triple, without computing what takes long.

    :param others: runs that rank about as well, of `competing_names`, by name
    :param side: of the query that the triple answers: "head" or "tail"
    :param why: the triple's explanation, if it was looked for
    :param unasked: further ones, which nobody asked for
    :param progress: called with (done, total); may raise to cancel
    :raises KgdashError: if a side is open
    """
    if found.triple.open_side is not None:
        raise KgdashError("a card is of a whole triple: leave no side open")
    run, command = found.run, None
    basis: Basis | str
    try:
        if is_at_hand(run):
            basis = card_basis(run)
        else:
            command = f"kgdash prepare {shlex.quote(run.name)}"
            basis = f"not prepared: {command} computes it"
    except KgdashError as error:
        basis = str(error)
    figures = (
        *_of_query(found, basis, side),
        _relik(found, basis, side),
        _agreement(found, distinct(run, others), side, unasked, progress),
        _reason(why),
    )
    line, level = card_line(figures, found.known)
    return TrustCard(side, line, level, figures, command)


def _unknown(name: str, why: str) -> CardFigure:
    return CardFigure(name, "–", "not known", why, "unknown", {})


def _of_query(found: Inspection, basis: Basis | str, side: str) -> tuple[CardFigure, CardFigure]:
    """Return the answer set and the probability."""
    names = ("answer_set", "probability")
    if isinstance(basis, str):
        return _unknown(names[0], basis), _unknown(names[1], basis)
    try:
        asked = questions(found.run, found.triple.row, side, found.filter)
        row = basis.placing.place(asked).iloc[0]
    except KgdashError as error:
        return _unknown(names[0], str(error)), _unknown(names[1], str(error))
    size, ties, count = (int(row[column]) for column in ("set_size", "ties", "candidates"))
    if ties == count > 1:
        why = f"all {count:,} candidates have the same score"
        return _unknown(names[0], why), _unknown(names[1], why)
    inside, p = bool(row["in_set"]), float(row["probability"])
    supposed = found.known is None
    sure, large = ("unsure" if doubt else "likely" for doubt in (supposed, size > SMALL_SET))
    answers = f"{size:,} answer{'s' * (size != 1)} of {count:,}"
    return (
        CardFigure(
            names[0],
            "in" if inside else "outside",
            f"{size:,} of {count:,}",
            f"the {PROMISE} set: {answers}",
            large if inside else "doubtful",
            {"epsilon": EPSILON, "in_set": inside, "size": size, "candidates": count},
        ),
        CardFigure(
            names[1],
            percent(p) if p else "< 0.1%",
            "to be recorded",
            "that it is recorded, fitted on validation" + _SUPPOSED * supposed,
            "doubtful" if p < DOUBTFUL else "unsure" if p < SURE else sure,
            {"supposed": supposed, "probability": p, "rank": float(row["rank"]), "ties": ties},
        ),
    )


def _relik(found: Inspection, basis: Basis | str, side: str) -> CardFigure:
    """Return the ReliK of the triple, with the coverage of the sets around the named entity."""
    relik = found.relik
    assert relik is not None, "the triple is whole"
    values: dict[str, Any] = {"relik": relik.value, "coverage": None}
    text = number(relik.value)
    if relik.interval is not None:
        values["interval"], text = relik.interval, f"≈ {text}"
    if isinstance(basis, str):
        about = f"coverage in this region {basis}"
        return CardFigure("relik", text, "coverage not known", about, "likely", values)
    graph, entity = found.run.graph, found.triple.head if side == "tail" else found.triple.tail
    if not communities_fit(graph):
        about = "coverage in this region not known: communities would take too much memory"
        return CardFigure("relik", text, "coverage not known", about, "likely", values)
    communities = find_communities(graph)
    assert entity is not None, "the triple is whole"
    here = basis.coverage_of(communities, entity)
    region = int(communities[entity])
    name = describe_communities(graph, communities, [region])[region].label
    values |= {"region": name, "queries": here.n}
    if here.n < _FEWEST:
        about = f"coverage in this region not known: only {here.n} test queries ({name})"
        return CardFigure("relik", text, "coverage not known", about, "likely", values)
    values["coverage"] = {"value": here.value, "low": here.low, "high": here.high}
    said = (
        f"sets here hold {percent(here.value)} ({percent(here.low)} to "
        f"{percent(here.high)}) of true answers, "
        f"promised {PROMISE}; n = {here.n:,} ({name})"
    )
    level = "unsure" if basis.misses(here) else "likely"
    return CardFigure("relik", text, f"coverage here {percent(here.value)}", said, level, values)


def _agreement(
    found: Inspection, others: Mapping[str, Run], side: str, unasked: int, progress: Progress
) -> CardFigure:
    if not others:
        more = f"more runs rank about as well: not asked ({unasked:,})"
        why = "one run only: no other of this graph is known to rank about as well"
        return _unknown("agreement", more if unasked else why)
    own = found.sides[side]
    assert own.answer is not None, "the triple is whole"
    (name, *_) = with_others(found.run, others)
    ranks = {name: own.rank(own.answer).realistic}
    for done, (name, run) in enumerate(others.items()):
        progress(done, len(others))
        table = run.ranks(triples=found.triple.row, filter=found.filter, sides=[side])
        ranks[name] = float(table["realistic"].iloc[0])
    hits = sum(rank <= TOP for rank in ranks.values())
    level = "doubtful" if 2 * hits < len(ranks) else "unsure" if hits < len(ranks) else "likely"
    return CardFigure(
        "agreement",
        f"{hits} of {len(ranks)}",
        f"runs: first {TOP}",
        f"runs of about equal MRR rank it among the first {TOP}"
        + f"; {unasked:,} more not asked" * bool(unasked),
        level,
        {"hits": hits, "runs": len(ranks), "k": TOP, "ranks": ranks},
    )


def _reason(why: Explanation | None) -> CardFigure:
    """Return what leads to the triple: facts that carry it, else a rule, else similar entities.

    It says why the model answers so, not that the answer is true: it is no part of the line.
    """
    if why is None:
        return _unknown("reason", "not looked for yet: the view Why does, or kgdash inspect --why")
    carried = [each for each in why.carried if each.carries]
    if carried:
        best = max(carried, key=lambda each: each.effect)
        count = len(best.facts)
        text = f"{count} fact{'s' * (count != 1)}"
        change = f"rank {best.rank_before:,g} → {best.rank_after:,g}"
        values = {"kind": "facts", "facts": best.facts.tolist(), "effect": best.effect}
        about = f"{rank_change(best)} of the {best.side}"
        return CardFigure("reason", text, change, about, "likely", values)
    if len(why.rules.table):
        rule = why.rules.table.iloc[0]
        values = {"kind": "rule", "rule": rule["rule"]}
        values["pca_confidence"] = float(rule["pca_confidence"])
        beneath = f"PCA confidence {number(rule['pca_confidence'])}"
        return CardFigure("reason", "a rule", beneath, rule["reading"], "likely", values)
    if why.similar is not None and why.similar["same"].any():
        same, count = int(why.similar["same"].sum()), len(why.similar)
        values = {"kind": "similar entities", "same": same, "entities": count}
        about = "of the most similar entities with the relation have this tail"
        return CardFigure(
            "reason", f"{same} of {count}", "similar entities", about, "likely", values
        )
    return _unknown("reason", "none found: no facts carry it, no rule leads to it")


#: queries of validation have an answer that is held out; few of those that people ask have one
_SUPPOSED = " if the query has an answer that is not known yet"

#: how a figure is said in a line
_SAID: dict[str, Callable[[CardFigure], str]] = {
    "answer_set": lambda figure: _set_text(figure.values),
    "probability": lambda figure: (
        f"probability {figure.text}{_SUPPOSED * bool(figure.values.get('supposed'))}"
    ),
    "relik": lambda figure: "answer sets of this region miss the truth more often than promised",
    "agreement": lambda figure: f"among the first {TOP} by {figure.text} runs",
}


def _set_text(values: Mapping[str, Any]) -> str:
    size, named = values["size"], f"the {PROMISE} set"
    if not values["in_set"]:
        return f"outside {named} of {size:,} answer{'s' * (size != 1)}"
    return f"one of {size:,} answers in {named}" if size > 1 else f"alone in {named}"


def card_line(figures: tuple[CardFigure, ...], known: str | None) -> tuple[str, str]:
    """Say in a line how far the prediction can be trusted, the doubt first.

    :param known: the split that holds the triple, or None
    :return: the line, and its level: that of the gravest figure
    """
    said = {level: [f for f in figures if f.level == level] for level in LEVELS}
    silent = [f for f in said["likely"] if f.name in ("relik", "reason")]
    good = [f for f in said["likely"] if f not in silent]
    told = {"doubtful": said["doubtful"], "unsure": said["unsure"], "likely": good}
    level = next((name for name, found in told.items() if found), "unknown")
    if level == "unknown":
        return "Not known: nothing is there to say how far it can be trusted.", level
    start = {"doubtful": "Doubt it", "unsure": "Unsure", "likely": "Likely right"}[level]
    against = [_SAID[f.name](f) for f in (*said["doubtful"], *said["unsure"])]
    pro = [_SAID[f.name](f) for f in good]
    text = f"{start}: {', '.join(against or pro)}"
    if against and pro:
        text += f"; but {', '.join(pro)}"
    notes = {
        "train": " The model was trained on this fact, which flatters it.",
        "valid": " The probabilities were fitted on this fact, among others.",
    }
    return f"{text}.{notes.get(known or '', '')}", level
