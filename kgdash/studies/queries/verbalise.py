"""Queries as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from kgdash.graph import KnowledgeGraph
from kgdash.studies.queries.query_types import QueryType


def question(
    graph: KnowledgeGraph, kind: QueryType, anchors: Sequence[int], relations: Sequence[int]
) -> str:
    """Write a query in labels: ``treats(aspirin, x) ∧ symptom of(x, ?)``.

    An atom is the fact that is looked for, so that a relation followed backwards has the variable
    that it leads to in first place: ``symptom of(?, fever)``.

    :param anchors: ids, one per branch
    :param relations: ids, ``kind.num_relations`` of them, id + |R| if followed backwards
    """
    names = iter("xyz")
    join = "?" if not kind.after else next(names)
    branches = []
    for anchor, columns in zip(anchors, kind.branch_columns, strict=True):
        nodes = [graph.entity_labels[anchor], *(next(names) for _ in columns[1:]), join]
        branches.append(_atoms(graph, nodes, [relations[c] for c in columns]))
    text = (" ∨ " if kind.join == "or" else " ∧ ").join(branches)
    if not kind.after:
        return text
    nodes = [join, *(next(names) for _ in kind.after_columns[1:]), "?"]
    text = f"({text})" if kind.join == "or" else text
    return f"{text} ∧ {_atoms(graph, nodes, [relations[c] for c in kind.after_columns])}"


def _atoms(graph: KnowledgeGraph, nodes: Sequence[str], relations: Sequence[int]) -> str:
    atoms = []
    for start, end, relation in zip(nodes[:-1], nodes[1:], relations, strict=True):
        ends = (start, end) if relation < graph.num_relations else (end, start)
        label = graph.relation_labels[relation % graph.num_relations]
        atoms.append(f"{label}({ends[0]}, {ends[1]})")
    return " ∧ ".join(atoms)
