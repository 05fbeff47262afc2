"""What the train triples say of each relation: its cardinality, and patterns that predict it."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.files.table_cache import cached_table
from kgdash.graph import KnowledgeGraph
from kgdash.graph.known_triples import KnownTriples
from kgdash.graph.sorted_slices import distinct, expand_slices
from kgdash.progress import Progress, silent

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

#: relations whose matrices are kept meanwhile, and entities of all these together: each matrix has
#: some numbers for every entity
_AT_HAND, _ENTITIES_AT_HAND = 512, 2**23

#: what is read in all of reversed triples (beside `_FEW` for each triple), of paths, and of the
#: triples that begin and end them; and paths that are counted: each relation has an equal share
_REVERSED, _READ, _COUNTED, _FEW = 2**24, 2**26, 2**16, 8

#: how many of those are in memory at once
_AT_ONCE = 2**20


def relation_kinds(graph: KnowledgeGraph, progress: Progress = silent) -> pd.DataFrame:
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

    Where thousands of relations join the same entities all that could be read without end: there
    each relation has a share of what is read, and no pattern is one that was not found in it.

    :param progress: called with (paths counted, paths); may raise to end it
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
    pattern, partners = _patterns(graph, train, progress)
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


def stored_relation_kinds(graph: KnowledgeGraph, progress: Progress = silent) -> pd.DataFrame:
    """Return `relation_kinds` of a graph, found once and kept on disk."""
    key = {"kind": "relation kinds", "version": _VERSION, "graph": graph.digest}
    return cached_table(
        {**key, "shown": graph.shown_digest},  # partners go by label
        lambda: relation_kinds(graph, progress),
        {"kind": "patterns", "graph": graph.name, "relations": graph.num_relations},
        progress,
    )


def _patterns(
    graph: KnowledgeGraph, train: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
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
    for relation, first, second in _composed(triples, known, sizes, progress):
        pattern[relation] = "composed"
        partners[relation] = f"{labels[first]}, {labels[second]}"
    one, other, share = _reversed(triples, known, sizes)
    for relation, partner in _inverses(one, other, share, len(train)):
        pattern[relation], partners[relation] = "inverse", labels[partner]
    for relation in one[one == other]:
        pattern[relation], partners[relation] = "symmetric", ""
    return pattern, partners


def _inverses(
    one: np.ndarray, other: np.ndarray, share: np.ndarray, count: int
) -> list[tuple[int, int]]:
    """List each relation that has an inverse, with the one that reverses most of it."""
    kept = one != other
    one, other, share = one[kept], other[kept], share[kept]
    mutual = np.isin(one * count + other, other * count + one)
    one, other, share = one[mutual], other[mutual], share[mutual]
    best = np.lexsort((other, share, one))
    last = np.append(one[best][1:] != one[best][:-1], True)[: len(best)]
    return list(zip(one[best][last].tolist(), other[best][last].tolist(), strict=True))


def _reversed(
    triples: np.ndarray, known: KnownTriples, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find, per pair of relations, the share of the first's triples that the second reverses.

    :return: three of the same length: relation, reversing relation (ids), share of at least
        `PATTERN_SHARE`
    """
    count = len(sizes)
    back = triples[np.argsort(triples[:, 1], kind="stable"), ::-1]
    relations, costs = back[:, 1], known.count_known_answers(back, "relation")
    most = np.maximum(_FEW * sizes, _REVERSED // count)
    read = (np.bincount(relations, costs, count) <= most)[relations]
    back, relations, costs = back[read], relations[read], costs[read]
    parts = [(np.empty(0, dtype=np.int64), np.empty(0))]
    for block in _blocks(relations, costs):
        owner, partner = known.known_answers(back[block], "relation")
        keys, found = np.unique(relations[block][owner] * count + partner, return_counts=True)
        share = found / sizes[keys // count]
        parts.append((keys[share >= PATTERN_SHARE], share[share >= PATTERN_SHARE]))
    keys, share = (np.concatenate(each) for each in zip(*parts, strict=True))
    one, other = np.divmod(keys, count)
    return one, other, share


def _blocks(relations: np.ndarray, costs: np.ndarray) -> Iterator[slice]:
    """Cut rows in the order of relations where relations begin, so that each costs `_AT_ONCE`.

    One relation alone may cost more.
    """
    ends = np.append(np.flatnonzero(relations[1:] != relations[:-1]) + 1, len(relations)).tolist()
    spent: list[int] = [0, *np.cumsum(costs).tolist()]
    start = last = 0
    for end in ends:
        if spent[end] - spent[start] > _AT_ONCE and last > start:
            yield slice(start, last)
            start = last
        last = end
    if last > start:
        yield slice(start, last)


def _composed(
    triples: np.ndarray, known: KnownTriples, sizes: np.ndarray, progress: Progress
) -> list[tuple[int, int, int]]:
    """Find relations that a path of two others implies: ``(relation, first, second)``."""
    ordered = triples[np.argsort(triples[:, 1], kind="stable")]
    stops = np.cumsum(sizes)
    at_hand = max(2, min(_AT_HAND, _ENTITIES_AT_HAND // known.num_entities))

    @lru_cache(at_hand)
    def matrix(relation: int) -> sparse.csr_matrix:
        rows = ordered[stops[relation] - sizes[relation] : stops[relation]]
        ones = np.ones(len(rows), dtype=np.int32)
        shape = (known.num_entities, known.num_entities)
        return sparse.csr_matrix((ones, (rows[:, 0], rows[:, 2])), shape=shape)

    @lru_cache(at_hand)
    def degrees(relation: int, axis: int) -> np.ndarray:
        return np.asarray(matrix(relation).sum(axis=axis), dtype=np.int64).ravel()

    found: dict[int, tuple[float, int, int, int]] = {}
    likely = _likely_paths(triples, known, sizes)
    for done, (relation, first, second) in enumerate(likely):
        progress(done, len(likely))
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
    out, into = (np.bincount(triples[:, side], minlength=width) for side in (0, 2))
    costs = out[chosen[:, 0]] + into[chosen[:, 2]]
    read = _cheapest(chosen[:, 1], costs, count)
    chosen, costs = chosen[read], costs[read]
    blocks = _blocks(chosen[:, 1], costs)
    return [path for block in blocks for path in _paths_around(chosen[block], known, count)]


def _paths_around(
    chosen: np.ndarray, known: KnownTriples, count: int
) -> Iterator[tuple[int, int, int]]:
    """Yield what `_likely_paths` lists, for some relations' triples, in the order of relations."""
    width = known.num_entities
    left, leaving = known.triples_with_entity(chosen[:, 0], "head")
    right, entering = known.triples_with_entity(chosen[:, 2], "tail")
    one = pd.DataFrame({"at": left * width + leaving % width, "first": leaving // width})
    two = pd.DataFrame({"at": right * width + entering % width, "second": entering // width})
    costs = np.zeros(len(chosen), dtype=np.int64)
    begun, ended = (each["at"].value_counts() for each in (one, two))
    joined = begun.mul(ended).dropna()
    np.add.at(costs, joined.index.to_numpy() // width, joined.to_numpy().astype(np.int64))
    read = np.flatnonzero(_cheapest(chosen[:, 1], costs, count))
    for block in _blocks(chosen[read, 1], costs[read]):
        of = [np.isin(owner, read[block]) for owner in (left, right)]
        paths = one[of[0]].merge(two[of[1]], on="at")
        owner = paths["at"].to_numpy() // width
        # Those that occur are numbered: 64 bits do not hold three of two million relations.
        pairs, path = np.unique(paths["first"] * count + paths["second"], return_inverse=True)
        keys = distinct(owner * len(pairs) + path)
        yield from _most_frequent(chosen, read[block], (keys, pairs), count)


def _most_frequent(
    chosen: np.ndarray, read: np.ndarray, around: tuple[np.ndarray, np.ndarray], count: int
) -> list[tuple[int, int, int]]:
    """List the paths around a good part of a relation's triples: those around most, if many.

    :param read: of the chosen triples, those whose paths are known
    :param around: a triple's number and that of a path around it, as one; and the paths, as the
        number of its first relation and that of its second
    """
    keys, pairs = around
    owner, path = np.divmod(keys, len(pairs))
    found, hits = np.unique(chosen[owner, 1] * len(pairs) + path, return_counts=True)
    relation = found // len(pairs)
    looked_at = np.bincount(chosen[read, 1], minlength=count)
    order = np.lexsort((-hits, relation))
    order = order[(hits >= COMPOSED_COVERAGE / 2 * looked_at[relation])[order]]
    place = np.arange(len(order)) - np.searchsorted(relation[order], relation[order])
    kept = np.sort(found[order][place < max(1, _COUNTED // count)])
    relation, path = np.divmod(kept, len(pairs))
    first, second = np.divmod(pairs[path], count)
    return list(zip(relation.tolist(), first.tolist(), second.tolist(), strict=True))


def _cheapest(relations: np.ndarray, costs: np.ndarray, count: int) -> np.ndarray:
    """Tell which rows are within their relation's share, those that cost least first: bool."""
    order = np.lexsort((costs, relations))
    spent = np.cumsum(costs[order])
    begin = np.searchsorted(relations[order], relations[order])
    before = np.append(0, spent)[begin]
    chosen = np.zeros(len(costs), dtype=bool)
    chosen[order] = spent - before <= min(4 * _AT_ONCE, _READ // count)
    return chosen
