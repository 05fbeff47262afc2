"""Mining of closed Horn rules with one or two body atoms, counted as AMIE does.

The language and the measures are those of AMIE (Galárraga et al., WWW 2013) and AMIE 3 (Lajus et
al., ESWC 2020); defined in numbers.md#9-rules.

The body of a rule is a set of pairs (x, y): of one step, of two steps on the same pair, or of a
chain of two. All bodies that begin with the same step are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Beat, Progress, silent
from kgdash.studies.rules.body_counting import Chains
from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.rule_table import written_rules

#: counts are by relation and relation: gigabytes beyond
_MOST_RELATIONS = 2**11

#: most rules that are kept: a graph of 14 entities and 55 relations has 450,654
MOST_RULES = 1_000_000

#: facts that are looked at in a row before others hear of it: half a second or less
_AT_ONCE = 2**26

#: least share of the head relation's facts that a mined rule finds, unless asked for: AMIE's
MIN_HEAD_COVERAGE = 0.01

_KEYS = ["pca_confidence", "support", "atoms", "head_relation", "joint", "first", "second"]


def mine_rules(
    graph: KnowledgeGraph,
    min_support: int = 2,
    min_head_coverage: float = MIN_HEAD_COVERAGE,
    min_pca: float = 0.1,
    max_rules: int = MOST_RULES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Mine closed rules with one or two body atoms on the train graph, and write them.

    :return: as `mine_bodies`, in front of it ``rule`` (as AMIE writes it), ``reading`` (the same in
        labels), ``body`` (the rule's part before the arrow)
    :raises KgdashError: as `mine_bodies`
    """
    found = mine_bodies(graph, min_support, min_head_coverage, min_pca, max_rules, progress)
    return written_rules(found, graph)


def mine_bodies(
    graph: KnowledgeGraph,
    min_support: int = 2,
    min_head_coverage: float = MIN_HEAD_COVERAGE,
    min_pca: float = 0.1,
    max_rules: int = MOST_RULES,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Mine closed rules with one or two body atoms on the train graph, counted as AMIE does.

    Defined in numbers.md#9-rules.

    Distinct variables may take the same value. Rules whose head is among their body atoms are left
    out; unlike AMIE's default, none is left out for having a shorter rule of equal confidence.

    :param graph: only its train triples are read
    :param min_support: least number of distinct (x, y) with body and head, ≥ 1
    :param min_head_coverage: least share of the head relation's facts that the rule finds
    :param max_rules: keep only so many, the first in the order below
    :return: one row per rule, by falling PCA confidence, then support: ``head_relation`` (id),
        ``first, second`` (steps of the body, ids as of `DirectedEdges`; 0 where there is no second
        one), ``joint`` (bool: both steps join the same pair), ``atoms`` (of the body, 1 or 2),
        ``support, body_size, pca_body_size`` (int64), ``head_coverage, standard_confidence,
        pca_confidence`` (in [0, 1]), ``functional_variable`` ("?a" or "?b")
    :raises KgdashError: if the train split is empty, a threshold is out of range, or there are more
        than 2,048 relations
    """
    _check_thresholds(min_support, min_head_coverage, min_pca)
    if graph.num_relations > _MOST_RELATIONS:
        raise KgdashError(
            f"graph {graph.name} has {graph.num_relations:,} relations; rules are mined of at most "
            f"{_MOST_RELATIONS:,}: mine them with AMIE or AnyBURL, and give that file"
        )
    steps = DirectedEdges.of(graph.split("train"), graph.num_entities, graph.num_relations)
    heads = _HeadRelations.of(steps)
    chains = Chains.of(steps, heads.by_head, heads.by_tail)
    least = np.maximum(min_support, np.ceil(min_head_coverage * heads.facts - 1e-9))
    found: list[pd.DataFrame] = []
    for first in range(2 * graph.num_relations):
        beat = partial(progress, first, 2 * graph.num_relations)
        for shape, counts in _counts(steps, heads, chains, first, beat):
            good = (counts["support"] >= least) & ~_tautologies(steps, shape, first)
            good &= counts["support"] >= min_pca * counts["pca_body_size"]
            head, second = np.nonzero(good.T)
            if len(second) > max_rules:  # a table of millions, sorted, takes gigabytes
                support = counts["support"][second, head]
                confidence = support / counts["pca_body_size"][second, head]
                kept = _best(confidence, support, max_rules)
                head, second = head[kept], second[kept]
            about = {"head_relation": head, "first": first, "second": second}
            about |= {"joint": shape == "joint", "atoms": 1 if shape == "single" else 2}
            if len(second) or not found:
                found_counts = {name: count[second, head] for name, count in counts.items()}
                found.append(pd.DataFrame(about | found_counts))
        if sum(map(len, found)) > 2 * max_rules:
            found = [_first(heads, found, max_rules)]
        progress(first + 1, 2 * graph.num_relations)
    return _first(heads, found, max_rules)


def _check_thresholds(min_support: int, min_head_coverage: float, min_pca: float) -> None:
    if min_support < 1:
        raise KgdashError(f"expected a least support of 1 or more; found {min_support}")
    for name, value in (("head coverage", min_head_coverage), ("PCA confidence", min_pca)):
        if not 0 <= value <= 1:
            raise KgdashError(f"expected a least {name} between 0 and 1; found {value}")


@dataclass(frozen=True)
class _HeadRelations:
    """Per relation its facts, and which argument is its functional variable.

    ``by_head`` and ``by_tail`` hold the relations whose functional variable is ?a, or ?b, and which
    entities occur as that argument: ids, and a matrix of one row per id and one column per entity.
    """

    facts: np.ndarray
    by_head: tuple[np.ndarray, sparse.csr_array]
    by_tail: tuple[np.ndarray, sparse.csr_array]

    @cached_property
    def of_entity(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how many of ``by_head`` and of ``by_tail`` each entity is an argument of."""
        heads, tails = (np.diff(ends.tocsc().indptr) for _, ends in (self.by_head, self.by_tail))
        return heads, tails

    @classmethod
    def of(cls, steps: DirectedEdges) -> _HeadRelations:
        heads, tails = steps.ends
        facts = np.bincount(steps.step, minlength=2 * steps.num_relations)[: steps.num_relations]
        # Distinct values per fact: the same denominator on both sides.
        first = heads.sum(axis=1) >= tails.sum(axis=1)
        ids = np.flatnonzero(first), np.flatnonzero(~first)
        return cls(facts, (ids[0], heads[ids[0]]), (ids[1], tails[ids[1]]))


#: the pairs of some bodies: x, second step (0 where there is none), y, position of (x, y) in
#: `DirectedEdges.pairs`; each (x, second, y) once
_Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _counts(
    steps: DirectedEdges, heads: _HeadRelations, chains: Chains, first: int, beat: Beat
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Yield, per shape of body, the counts of all bodies that begin with a step."""
    at = np.flatnonzero(steps.step == first)
    pair = steps.pairs[1][at]
    single = steps.start[at], np.zeros(len(at), np.int64), steps.end[at], pair
    yield "single", _count(steps, heads, single, beat)
    joined = steps.of_pair[pair].tocoo()
    both = at[joined.row]
    joint = steps.start[both], joined.col, steps.end[both], pair[joined.row]
    yield "joint", _count(steps, heads, joint, beat)
    yield "chain", chains.count(first, beat)


def _count(
    steps: DirectedEdges, heads: _HeadRelations, rows: _Rows, beat: Beat
) -> dict[str, np.ndarray]:
    """Count support, body size and PCA body size: int64, ``(second steps, head relations)``."""
    height = 2 * steps.num_relations
    support, size, pca = (np.zeros((height, steps.num_relations)) for _ in range(3))
    for start, second, end, pair in _parts(steps, heads, rows):
        beat()
        used = np.flatnonzero(np.bincount(second, minlength=height))
        row = np.searchsorted(used, second)
        chosen = sparse.csr_array(
            (np.ones(len(row)), (row, pair)), shape=(len(used), len(steps.pairs[0]))
        )
        support[used] += (chosen @ steps.facts_of_pair).toarray()
        size += np.bincount(second, minlength=height)[:, None]
        for (relations, ends), entity in ((heads.by_head, start), (heads.by_tail, end)):
            at = sparse.csr_array(
                (np.ones(len(row)), (row, entity)), shape=(len(used), steps.num_entities)
            )
            pca[np.ix_(used, relations)] += (ends @ at.T).toarray().T
    return {
        name: np.rint(count).astype(np.int64)
        for name, count in (("support", support), ("body_size", size), ("pca_body_size", pca))
    }


def _parts(steps: DirectedEdges, heads: _HeadRelations, rows: _Rows) -> Iterator[_Rows]:
    """Cut rows into parts that cost `_AT_ONCE`, or one row more."""
    start, second, end, pair = rows
    by_head, by_tail = heads.of_entity
    costs = np.diff(steps.facts_of_pair.indptr)[pair] + by_head[start] + by_tail[end]
    spent = np.cumsum(costs, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(spent // _AT_ONCE)) + 1
    for first, last in pairwise([0, *cuts.tolist(), len(pair)]):
        yield start[first:last], second[first:last], end[first:last], pair[first:last]


def _tautologies(steps: DirectedEdges, shape: str, first: int) -> np.ndarray:
    """Tell which (second step, head relation) are trivial or written twice."""
    second = np.arange(2 * steps.num_relations)[:, None]
    head = np.arange(steps.num_relations)[None, :]
    if shape == "chain":
        return np.zeros((len(second), head.size), dtype=bool)
    if shape == "single":
        return (head == first) | (second > 0)
    return (head == first) | (head == second) | (second <= first)


def _best(confidence: np.ndarray, support: np.ndarray, most: int) -> np.ndarray:
    """Choose so many of greatest confidence, of equals those of greatest support, then the first.

    :return: bool
    """
    kept, left = np.zeros(len(support), dtype=bool), np.arange(len(support))
    for values in (confidence, support):
        if len(left) <= most:
            break
        least = np.partition(values[left], len(left) - most)[len(left) - most]
        kept[left[values[left] > least]] = True
        most -= int((values[left] > least).sum())
        left = left[values[left] == least]
    kept[left[:most]] = True
    return kept


def _first(heads: _HeadRelations, found: list[pd.DataFrame], most: int) -> pd.DataFrame:
    """Measure rules by their counts, and keep the first ones."""
    table = pd.concat(found, ignore_index=True)
    head = table["head_relation"].to_numpy()
    table["head_coverage"] = table["support"] / heads.facts[head]
    table["standard_confidence"] = table["support"] / table["body_size"]
    table["pca_confidence"] = table["support"] / table["pca_body_size"]
    table["functional_variable"] = np.where(np.isin(head, heads.by_head[0]), "?a", "?b")
    table = table.sort_values(_KEYS, ascending=[False, False] + [True] * (len(_KEYS) - 2))
    return table.head(most).reset_index(drop=True)
