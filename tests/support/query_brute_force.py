"""Queries read as their definition says: by trying all assignments of entities to variables."""

from __future__ import annotations

from itertools import product

import numpy as np


def facts_of(graph, splits=("train", "valid", "test")) -> set[tuple[int, int, int]]:
    return {tuple(row) for split in splits for row in graph.splits[split].tolist()}


def holds(facts, relation, start, end, num_relations) -> bool:
    if relation < num_relations:
        return (start, relation, end) in facts
    return (end, relation - num_relations, start) in facts


def groundings_of(kind, anchors, relations, facts, graph) -> dict[int, set[frozenset]]:
    """Map each answer to its chains: sets of (start, relation, end), relations as in the query.

    A conjunction's chain holds a triple per atom; a disjunction's those of one of its branches.
    """
    parts, at = [], 0
    for length in kind.branches:
        parts.append([int(r) for r in relations[at : at + length]])
        at += length
    after = [int(r) for r in relations[at:]]
    branches = list(zip((int(a) for a in anchors), parts, strict=True))
    chosen = [[branch] for branch in branches] if kind.join == "or" else [branches]
    found: dict[int, set[frozenset]] = {}
    for own in chosen:
        inner = [len(steps) - 1 for _, steps in own]
        variables = sum(inner) + len(after) + 1
        for values in product(range(graph.num_entities), repeat=variables):
            rest, atoms = list(values), []
            tail = [rest.pop() for _ in range(len(after) + 1)]
            for (anchor, steps), count in zip(own, inner, strict=True):
                nodes = [anchor, *(rest.pop() for _ in range(count)), tail[0]]
                atoms += [(nodes[i], r, nodes[i + 1]) for i, r in enumerate(steps)]
            atoms += [(tail[i], r, tail[i + 1]) for i, r in enumerate(after)]
            if all(holds(facts, r, x, y, graph.num_relations) for x, r, y in atoms):
                found.setdefault(tail[-1], set()).add(frozenset(atoms))
    return found


def answers_of(kind, anchors, relations, facts, graph) -> set[int]:
    return set(groundings_of(kind, anchors, relations, facts, graph))


def random_queries(kind, graph, count, seed):
    """Draw anchors and relations, backwards ones too, whatever they lead to."""
    rng = np.random.default_rng(seed)
    anchors = rng.integers(graph.num_entities, size=(count, len(kind.branches)))
    return anchors, rng.integers(2 * graph.num_relations, size=(count, kind.num_relations))
