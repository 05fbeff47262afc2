"""What the train triples say of each relation: its cardinality, and patterns that predict it."""

from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.sorted_slices import distinct, expand_slices

#: a side of a relation with at least so many answers per query on average is "n" (Bordes 2013)
MANY = 1.5

#: share that makes a pattern: of a relation's triples that are reversed (symmetric, inverse, Akrami
#: et al. 2020), and of the ends of a path that the relation joins (composed)
PATTERN_SHARE = 0.8

#: share of a composed relation's triples that join the ends of such a path
COMPOSED_COVERAGE = 0.5

CARDINALITIES = ("1-1", "1-n", "n-1", "n-n")
PATTERNS = ("symmetric", "inverse", "composed")

#: where nothing else fits: no pattern was found, or there is no train triple to tell by
NO_PATTERN, NOT_IN_TRAIN = "none found", "not in train"

#: raise when the meaning of a stored table changes
_VERSION = 1

#: triples per relation that the search for paths looks at before it counts exactly
_LOOKED_AT = 20

#: relations whose matrices are kept meanwhile: each has a number or more for every entity
_AT_HAND = 512


def relation_kinds(graph: KnowledgeGraph) -> pd.DataFrame:
    """Describe each relation by its train triples.

    Cardinality (Bordes et al. 2013): "head side-tail side"; a side is "n" if there are on average
    at least 1.5 heads per tail, or tails per head, else "1". Patterns, of which the first that
    holds is given, loops (h, r, h) left out:

    - symmetric: at least 80% of the (h, r, t) have their (t, r, h);
    - inverse of r′: at least 80% of the (h, r, t) have their (t, r′, h), and of the r′ likewise
      (Akrami et al. 2020);
    - composed of r₁, r₂: at least 80% of the pairs (x, z) that a path x r₁ y r₂ z joins are
      triples of r, and these are at least half of r's. Paths are looked for around up to 20 triples
      of each relation, then counted exactly.

    :return: one row per relation, in the order of ids: ``train`` (int64: its train triples),
        ``tails_per_head``, ``heads_per_tail`` (float64 means, ≥ 1; NaN without train triples),
        ``cardinality``, ``pattern`` (str), ``partners`` (str: labels of the relations that make the
        pattern, or nothing)
    """
    heads, relations, tails = graph.splits["train"].T
    count = graph.num_relations
    train = np.bincount(relations, minlength=count)
    pairs = [distinct(relations * graph.num_entities + ends) for ends in (heads, tails)]
    with np.errstate(invalid="ignore"):
        per_head, per_tail = (
            train / np.bincount(p // graph.num_entities, minlength=count) for p in pairs
        )
    many = 2 * (per_tail >= MANY) + (per_head >= MANY)
    cardinality = np.array(CARDINALITIES, dtype=object)[many]
    pattern, partners = _patterns(graph, train)
    cardinality[train == 0] = pattern[train == 0] = NOT_IN_TRAIN
    return pd.DataFrame(
        {
            "train": train,
            "tails_per_head": per_head,
            "heads_per_tail": per_tail,
            "cardinality": cardinality,
            "pattern": pattern,
            "partners": partners,
        }
    )


def stored_relation_kinds(graph: KnowledgeGraph) -> pd.DataFrame:
    """Return `relation_kinds` of a graph, found once and kept on disk."""
    return cached_table(
        {"kind": "relation kinds", "version": _VERSION, "graph": graph.digest},
        lambda: relation_kinds(graph),
        {"kind": "patterns", "graph": graph.name, "relations": graph.num_relations},
    )


def _patterns(graph: KnowledgeGraph, train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Name the pattern of each relation and the labels of its partners: two of ``(|R|,)``."""
    pattern = np.full(len(train), NO_PATTERN, dtype=object)
    partners = np.full(len(train), "", dtype=object)
    triples = graph.splits["train"]
    triples = triples[triples[:, 0] != triples[:, 2]]
    if not len(triples):
        return pattern, partners
    known, labels = graph.index(triples), graph.relation_labels
    sizes = np.bincount(triples[:, 1], minlength=len(train))
    # Assigned from the last to the first, so that the first that holds stays.
    for relation, first, second in _composed(triples, known, sizes):
        pattern[relation] = "composed"
        partners[relation] = f"{labels[first]}, {labels[second]}"
    one, other, share = _reversed(triples, known, sizes)
    back = dict(zip(zip(one.tolist(), other.tolist(), strict=True), share.tolist(), strict=True))
    for (relation, partner), found in sorted(back.items(), key=lambda item: item[1]):
        mutual = min(found, back.get((partner, relation), 0.0))
        if relation != partner and mutual >= PATTERN_SHARE:
            pattern[relation], partners[relation] = "inverse", labels[partner]
    for relation in one[(one == other) & (share >= PATTERN_SHARE)]:
        pattern[relation], partners[relation] = "symmetric", ""
    return pattern, partners


def _reversed(
    triples: np.ndarray, known: KnownTriples, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find, per pair of relations, the share of the first's triples that the second reverses.

    :return: three of the same length: relation, reversing relation (ids), share in (0, 1]
    """
    owner, partner = known.known_answers(triples[:, ::-1], "relation")
    keys, found = np.unique(triples[owner, 1] * len(sizes) + partner, return_counts=True)
    one, other = np.divmod(keys, len(sizes))
    return one, other, found / sizes[one]


def _composed(
    triples: np.ndarray, known: KnownTriples, sizes: np.ndarray
) -> list[tuple[int, int, int]]:
    """Find relations that a path of two others implies: ``(relation, first, second)``."""
    ordered = triples[np.argsort(triples[:, 1], kind="stable")]
    stops = np.cumsum(sizes)

    @lru_cache(_AT_HAND)
    def matrix(relation: int) -> sparse.csr_matrix:
        rows = ordered[stops[relation] - sizes[relation] : stops[relation]]
        ones = np.ones(len(rows), dtype=np.int32)
        shape = (known.num_entities, known.num_entities)
        return sparse.csr_matrix((ones, (rows[:, 0], rows[:, 2])), shape=shape)

    @lru_cache(_AT_HAND)
    def degrees(relation: int, axis: int) -> np.ndarray:
        return np.asarray(matrix(relation).sum(axis=axis), dtype=np.int64).ravel()

    found: dict[int, tuple[float, int, int, int]] = {}
    for relation, first, second in _likely_paths(triples, known, sizes):
        # The pairs that one middle joins are all different: more of them than that is too many.
        most = sizes[relation] / PATTERN_SHARE
        if (degrees(first, 0) * degrees(second, 1)).max() > most:
            continue
        ends = matrix(first) @ matrix(second)
        ends.data[:] = 1
        ends.setdiag(0)
        ends.eliminate_zeros()
        support = int(ends.multiply(matrix(relation)).sum())
        if support >= max(PATTERN_SHARE * ends.nnz, COMPOSED_COVERAGE * sizes[relation]):
            best = found.get(relation, (-1.0,))[0]
            if support / ends.nnz > best:
                found[relation] = (support / ends.nnz, relation, first, second)
    return [path for _, *path in found.values()]  # type: ignore[misc]


def _likely_paths(
    triples: np.ndarray, known: KnownTriples, sizes: np.ndarray
) -> list[tuple[int, int, int]]:
    """List ``(relation, first, second)`` whose paths join a good part of some of its triples."""
    order = np.argsort(triples[:, 1], kind="stable")
    relation, place = expand_slices(np.zeros_like(sizes), sizes)
    step = np.maximum(1, sizes // _LOOKED_AT)[relation]
    chosen = triples[order[(place % step == 0) & (place // step < _LOOKED_AT)]]
    count, width = len(sizes), known.num_entities
    left, leaving = known.triples_with_entity(chosen[:, 0], "head")
    right, entering = known.triples_with_entity(chosen[:, 2], "tail")
    one = pd.DataFrame({"at": left * width + leaving % width, "first": leaving // width})
    two = pd.DataFrame({"at": right * width + entering % width, "second": entering // width})
    joined = one.merge(two, on="at")
    keys = (joined["at"].to_numpy() // width * count + joined["first"]) * count + joined["second"]
    owner, path = np.divmod(distinct(keys.to_numpy()), count * count)
    relation_paths, hits = np.unique(chosen[owner, 1] * count * count + path, return_counts=True)
    relation, path = np.divmod(relation_paths, count * count)
    looked_at = np.bincount(chosen[:, 1], minlength=count)
    likely = hits >= COMPOSED_COVERAGE / 2 * looked_at[relation]
    first, second = np.divmod(path[likely], count)
    return list(zip(relation[likely].tolist(), first.tolist(), second.tolist(), strict=True))
