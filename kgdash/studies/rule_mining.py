"""Mining of closed Horn rules with one or two body atoms, with AMIE's four figures (§9).

The body of a rule is a set of pairs (x, y). All bodies that begin with the same step come out of
one sparse product: the first step's matrix times all steps side by side. Counting is then the same
for every shape of body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.rules import Rule, rule_reading, rule_text

#: two-step paths that one sparse product may enumerate
_BLOCK_PATHS = 8_000_000

_KEYS = ["pca_confidence", "support", "atoms", "head_relation", "shape", "first", "second"]


@dataclass(frozen=True)
class Steps:
    """The facts as steps from entity to entity: relations forwards (id) and backwards (id + |R|).

    ``start, step, end`` are int64 arrays with one entry per step, two per fact.
    """

    start: np.ndarray
    step: np.ndarray
    end: np.ndarray
    num_entities: int
    num_relations: int

    @classmethod
    def of(cls, triples: np.ndarray, num_entities: int, num_relations: int) -> Steps:
        """Turn triples, shape ``(n, 3)``, into steps."""
        head, relation, tail = np.unique(triples, axis=0).T
        return cls(
            np.concatenate([head, tail]),
            np.concatenate([relation, relation + num_relations]),
            np.concatenate([tail, head]),
            num_entities,
            num_relations,
        )

    def matrix(self, step: int) -> sparse.csr_array:
        """Return the pairs of one step: bool, shape ``(|E|, |E|)``."""
        at = self.step == step
        return self._sparse(self.start[at], self.end[at], self.num_entities)

    @cached_property
    def side_by_side(self) -> sparse.csr_array:
        """Return all steps: shape ``(|E|, 2·|R|·|E|)``; column = step · |E| + end."""
        column = self.step * self.num_entities + self.end
        return self._sparse(self.start, column, 2 * self.num_relations * self.num_entities)

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct ``start · |E| + end``, sorted, and each step's position therein."""
        return np.unique(self.start * self.num_entities + self.end, return_inverse=True)

    @cached_property
    def of_pair(self) -> sparse.csr_array:
        """Return which steps join which pair: shape ``(pairs, 2·|R|)``."""
        keys, position = self.pairs
        shape = (len(keys), 2 * self.num_relations)
        return sparse.csr_array((np.ones(len(position)), (position, self.step)), shape=shape)

    @cached_property
    def ends(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return which relation has which entities as heads, and as tails: ``(|R|, |E|)`` each."""
        shape = (2 * self.num_relations, self.num_entities)
        step, end = np.unique(np.stack([self.step, self.start]), axis=1)
        seen = sparse.csr_array((np.ones(len(step)), (step, end)), shape=shape)
        return seen[: self.num_relations], seen[self.num_relations :]

    def _sparse(self, row: np.ndarray, column: np.ndarray, width: int) -> sparse.csr_array:
        return sparse.csr_array(
            (np.ones(len(row), dtype=np.int32), (row, column)), shape=(self.num_entities, width)
        )


def mine_rules(
    graph: KnowledgeGraph,
    min_support: int = 2,
    min_head_coverage: float = 0.01,
    min_pca: float = 0.1,
    max_rules: int | None = None,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Mine closed rules with one or two body atoms on the train graph, counted as AMIE does (§9).

    Distinct variables may take the same value. Rules whose head is among their body atoms are left
    out; unlike AMIE's default, none is left out for having a shorter rule of equal confidence.

    :param graph: only its train triples are read
    :param min_support: least number of distinct (x, y) with body and head, ≥ 1
    :param min_head_coverage: least share of the head relation's facts that the rule finds
    :param min_pca: least PCA confidence
    :param max_rules: keep only so many, the first in the order below
    :param progress: called with (done, total)
    :return: one row per rule, by falling PCA confidence, then support: ``rule`` (as AMIE writes
        it), ``reading`` (the same in labels), ``body`` (the rule's part before the arrow),
        ``head_relation`` (id), ``atoms`` (of the body, 1 or 2), ``support, body_size,
        pca_body_size`` (int64), ``head_coverage, standard_confidence, pca_confidence`` (in [0, 1]),
        ``functional_variable`` ("?a" or "?b")
    :raises KgdashError: if the train split is empty or a threshold is out of range
    """
    _check_thresholds(min_support, min_head_coverage, min_pca)
    steps = Steps.of(graph.split("train"), graph.num_entities, graph.num_relations)
    heads = _HeadRelations.of(steps)
    found = []
    for first in range(2 * graph.num_relations):
        for shape, rows in _bodies(steps, first):
            counts = _count(steps, heads, rows)
            least = np.maximum(min_support, np.ceil(min_head_coverage * heads.facts - 1e-9))
            good = (counts["support"] >= least) & ~_tautologies(steps, shape, first)
            good &= counts["support"] >= min_pca * counts["pca_body_size"]
            second, head = np.nonzero(good)
            table = pd.DataFrame({name: count[good] for name, count in counts.items()})
            found.append(table.assign(shape=shape, first=first, second=second, head_relation=head))
        progress(first + 1, 2 * graph.num_relations)
    return _finish(graph, heads, pd.concat(found, ignore_index=True), max_rules)


def _check_thresholds(min_support: int, min_head_coverage: float, min_pca: float) -> None:
    if min_support < 1:
        raise KgdashError(f"expected a least support of 1 or more; found {min_support}")
    for name, value in (("head coverage", min_head_coverage), ("PCA confidence", min_pca)):
        if not 0 <= value <= 1:
            raise KgdashError(f"expected a least {name} between 0 and 1; found {value}")


@dataclass(frozen=True)
class _HeadRelations:
    """Per relation: its facts, and whether its functional variable is the head ("?a")."""

    facts: np.ndarray
    by_head: np.ndarray

    @classmethod
    def of(cls, steps: Steps) -> _HeadRelations:
        domain, range_ = steps.ends
        facts = np.bincount(steps.step, minlength=2 * steps.num_relations)[: steps.num_relations]
        # Distinct values per fact: the same denominator on both sides.
        return cls(facts, domain.sum(axis=1) >= range_.sum(axis=1))


#: the pairs of some bodies: x, second step (0 where there is none), y, position of (x, y) in
#: `Steps.pairs` (-1 where no fact joins them); each (x, second, y) once
_Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _bodies(steps: Steps, first: int) -> Iterator[tuple[str, Iterator[_Rows]]]:
    """Yield, per shape of body, all bodies that begin with a step."""
    at = np.flatnonzero(steps.step == first)
    pair = steps.pairs[1][at]
    yield "single", iter([(steps.start[at], np.zeros(len(at), np.int64), steps.end[at], pair)])
    joined = steps.of_pair[pair].tocoo()
    both = at[joined.row]
    yield "joint", iter([(steps.start[both], joined.col, steps.end[both], pair[joined.row])])
    yield "chain", _chains(steps, first)


def _chains(steps: Steps, first: int) -> Iterator[_Rows]:
    """Yield the bodies x –first→ h –second→ y for all second steps, in blocks of x."""
    matrix, width = steps.matrix(first), steps.num_entities
    paths = np.cumsum(matrix @ np.diff(steps.side_by_side.indptr))
    keys, _ = steps.pairs
    start = 0
    while start < width:
        done = paths[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(paths, done + _BLOCK_PATHS, side="right")))
        product = (matrix[start:stop] @ steps.side_by_side).tocoo()
        if product.nnz:
            second, end = np.divmod(product.col.astype(np.int64), width)
            yield product.row + start, second, end, _positions(keys, start, stop, product, width)
        start = stop


def _positions(
    keys: np.ndarray, start: int, stop: int, product: sparse.coo_array, width: int
) -> np.ndarray:
    first, last = np.searchsorted(keys, [start * width, stop * width])
    dense = np.full((stop - start) * width, -1, dtype=np.int64)
    dense[keys[first:last] - start * width] = np.arange(first, last)
    return dense[product.row.astype(np.int64) * width + product.col % width]


def _count(steps: Steps, heads: _HeadRelations, blocks: Iterator[_Rows]) -> dict[str, np.ndarray]:
    """Count support, body size and PCA body size: int64, ``(second steps, head relations)``."""
    shape = (2 * steps.num_relations, steps.num_entities)
    at_start, at_end = np.zeros(shape), np.zeros(shape)
    support = np.zeros((shape[0], steps.num_relations))
    forward = steps.of_pair[:, : steps.num_relations]
    for start, second, end, pair in blocks:
        for counts, entity in ((at_start, start), (at_end, end)):
            flat = np.bincount(second * shape[1] + entity, minlength=counts.size)
            counts += flat.reshape(shape)
        hit = pair >= 0
        chosen = sparse.csr_array(
            (np.ones(hit.sum()), (second[hit], pair[hit])), shape=(shape[0], forward.shape[0])
        )
        support += (chosen @ forward).toarray()
    domain, range_ = steps.ends
    size = np.broadcast_to(at_start.sum(axis=1)[:, None], support.shape)
    # Sparse on the left: a dense product would start BLAS threads, which cost more than they save.
    pca = np.where(heads.by_head, (domain @ at_start.T).T, (range_ @ at_end.T).T)
    return {
        name: np.rint(count).astype(np.int64)
        for name, count in (("support", support), ("body_size", size), ("pca_body_size", pca))
    }


def _tautologies(steps: Steps, shape: str, first: int) -> np.ndarray:
    """Tell which (second step, head relation) are trivial or written twice."""
    second = np.arange(2 * steps.num_relations)[:, None]
    head = np.arange(steps.num_relations)[None, :]
    if shape == "chain":
        return np.zeros((len(second), head.size), dtype=bool)
    if shape == "single":
        return (head == first) | (second > 0)
    return (head == first) | (head == second) | (second <= first)


def _finish(
    graph: KnowledgeGraph, heads: _HeadRelations, found: pd.DataFrame, max_rules: int | None
) -> pd.DataFrame:
    head = found["head_relation"].to_numpy()
    found["head_coverage"] = found["support"] / heads.facts[head]
    found["standard_confidence"] = found["support"] / found["body_size"]
    found["pca_confidence"] = found["support"] / found["pca_body_size"]
    found["functional_variable"] = np.where(heads.by_head[head], "?a", "?b")
    found["atoms"] = np.where(found["shape"] == "single", 1, 2)
    found = found.sort_values(_KEYS, ascending=[False, False] + [True] * (len(_KEYS) - 2))
    found = found.head(max_rules) if max_rules is not None else found
    rules = [
        Rule(head, (first,) if shape == "single" else (first, second), shape == "joint")
        for shape, first, second, head in zip(
            *(found[c] for c in ("shape", "first", "second", "head_relation")), strict=True
        )
    ]
    found["rule"] = [rule_text(rule, graph) for rule in rules]
    found["reading"] = [rule_reading(rule, graph) for rule in rules]
    found["body"] = [text.partition("   => ")[0] for text in found["rule"]]
    order = ["rule", "reading", "body", "head_relation", "atoms", "support", "body_size"]
    order += ["pca_body_size", "head_coverage", "standard_confidence", "pca_confidence"]
    return found[[*order, "functional_variable"]].reset_index(drop=True)
