"""An inspection as JSON can hold it (the command ``inspect``)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kgdash.graph import KnowledgeGraph
from kgdash.graph.entity_types import EntityTypes
from kgdash.studies.inspection.better_negatives import BetterNegatives
from kgdash.studies.inspection.candidates import SideCandidates
from kgdash.studies.inspection.ends import facts_of_entity
from kgdash.studies.inspection.inspection import Inspection
from kgdash.studies.inspection.verdict import verdict

#: relations and types listed of the negatives that beat a triple, and relations of an end
LISTED = 10


def summary(
    inspection: Inspection,
    better: Mapping[str, BetterNegatives] | None,
    types: EntityTypes | None,
    k: int = 10,
) -> dict[str, Any]:
    """Lay an inspection out with names.

    What only a whole triple has is None of an open one: its score, ranks, ReliK, what beats it.

    :param better: of `kgdash.studies.inspection.inspection.what_beats`; None where it was not asked
    :param types: of entities, that these are counted by
    :param k: candidates listed on each side
    """
    triple, graph = inspection.triple, inspection.run.graph
    whole = triple.open_side is None
    relik = inspection.relik
    return {
        "run": inspection.run.name,
        "triple": triple.names(graph),
        "labels": triple.labels(graph),
        "open": triple.open_side,
        "known": inspection.known,
        "verdict": verdict(inspection),
        "filter": inspection.filter,
        "score": inspection.score if whole else None,
        "ranks": _ranks(inspection) if whole else None,
        "raw_ranks": _ranks(inspection, raw=True) if whole else None,
        "relik": relik.value if relik else None,
        "relik_interval": relik.interval if relik else None,
        "head_rank": relik.head_rank if relik else None,
        "tail_rank": relik.tail_rank if relik else None,
        "top": {side: _top(found, graph, k) for side, found in inspection.sides.items()},
        "better": {s: _better(b, graph, types) for s, b in better.items()}
        if better and types
        else None,
        "ends": {
            side: _end(graph, entity)
            for side, entity in (("head", triple.head), ("tail", triple.tail))
            if entity is not None
        },
    }


def _ranks(inspection: Inspection, raw: bool = False) -> dict[str, dict[str, float]]:
    return {
        side: asdict(found.rank(found.answer, raw)) | {"score": found.score(found.answer)}
        for side, found in inspection.sides.items()
        if found.answer is not None
    }


def _top(found: SideCandidates, graph: KnowledgeGraph, k: int) -> list[dict[str, Any]]:
    kind = "relation" if found.side == "relation" else "entity"
    names, labels = (
        (graph.relations, graph.relation_labels)
        if kind == "relation"
        else (graph.entities, graph.entity_labels)
    )
    rows = found.top(k).rename(columns={"raw_rank": "rank"}).to_dict("records")
    return [
        {kind: names[row["id"]], "label": labels[row["id"]]}
        | {column: value for column, value in row.items() if column != "id"}
        for row in rows
    ]


def _better(better: BetterNegatives, graph: KnowledgeGraph, types: EntityTypes) -> dict[str, Any]:
    relations = better.relations().head(LISTED).to_dict("records")
    best = better.best.to_dict("records")
    return {
        "count": better.count,
        "negatives": better.negatives,
        "by_relation": [row | {"relation": graph.relations[row["relation"]]} for row in relations],
        "by_type": better.types(types).head(LISTED).to_dict("records"),
        "best": [
            {
                "head": graph.entities[row["head"]],
                "relation": graph.relations[row["relation"]],
                "tail": graph.entities[row["tail"]],
                "score": row["score"],
            }
            for row in best
        ],
    }


def _end(graph: KnowledgeGraph, entity: int) -> dict[str, Any]:
    facts = facts_of_entity(graph, entity)
    relations = facts.relations().head(LISTED).to_dict("records")
    return {
        "entity": graph.entities[entity],
        "label": graph.entity_labels[entity],
        "degree": facts.degree,
        "splits": facts.by_split,
        "relations": [row | {"relation": graph.relations[row["relation"]]} for row in relations],
    }
