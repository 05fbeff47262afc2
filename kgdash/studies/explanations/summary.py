"""An explanation as JSON can hold it (the command ``why``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgdash.graph import IDS
from kgdash.studies.explanations.carrying_facts import CarryingFacts
from kgdash.studies.explanations.verdict import doubts, reasons

if TYPE_CHECKING:
    from kgdash.studies.explanations.explanation import Explanation

_RULE = ["rule", "reading", "pca_confidence", "standard_confidence", "support", "paths"]


def summary(found: Explanation) -> dict[str, Any]:
    """Lay an explanation out with names; what is not known is None."""
    graph = found.run.graph
    return {
        "run": found.run.name,
        "triple": found.triple.names(graph),
        "labels": found.triple.labels(graph),
        "judged": found.judged,
        "rank": found.rank,
        "doubts": doubts(found),
        "reasons": reasons(found),
        "rules": _rules(found),
        "rules_together": {"maximum": found.rules.maximum, "noisy_or": found.rules.noisy_or},
        "facts": [_facts(found, each) for each in found.carried if len(each.facts)],
        "no_facts": [
            {"entity": graph.entities[each.entity], "why": each.missing}
            for each in found.carried
            if not len(each.facts)
        ],
        "analogies": _analogies(found),
    }


def _rules(found: Explanation) -> list[dict[str, Any]]:
    rows = found.rules.table[_RULE].rename(columns={"paths": "groundings"}).to_dict("records")
    for row in rows:
        row["paths"] = []
    paths = found.rules.paths
    named = _names(found, paths[IDS].to_numpy())
    for place, of in paths.reset_index(drop=True).groupby(["place", "grounding"]).indices.items():
        rows[place[0]]["paths"].append([named[at] for at in of])
    return [{str(key): value for key, value in row.items()} for row in rows]


def _facts(found: Explanation, each: CarryingFacts) -> dict[str, Any]:
    return {
        "facts": _names(found, each.facts),
        "rank_before": each.rank_before,
        "rank_after": each.rank_after,
        "effect": each.effect,
        "rank": each.rank,
        "side": each.side,
        "entity": found.run.graph.entities[each.entity],
    }


def _analogies(found: Explanation) -> list[dict[str, Any]]:
    if found.similar is None:
        return []
    names = found.run.graph.entities
    rows = found.similar.to_dict("records")
    return [
        {
            "entity": names[row["entity"]],
            "distance": row["distance"],
            "tails": [names[tail] for tail in row["tails"]],
            "facts": row["facts"],
            "same": row["same"],
        }
        for row in rows
    ]


def _names(found: Explanation, triples: Any) -> list[list[str]]:
    entities, relations = found.run.graph.entities, found.run.graph.relations
    return [[entities[h], relations[r], entities[t]] for h, r, t in triples]
