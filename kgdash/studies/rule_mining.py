"""Mining of closed Horn rules with one or two body atoms, with AMIE's four figures (§9).

The body of a rule is a set of pairs (x, y). All bodies that begin with the same step come out of
one sparse product: the first step's matrix times all steps side by side. Counting is then the same
for every shape of body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from kgdash.errors import KgdashError
from kgdash.graph import KnowledgeGraph
from kgdash.progress import Progress, silent
from kgdash.studies.rule_steps import Steps
from kgdash.studies.rules import path_rule, rule_reading, rule_text

#: two-step paths that one sparse product may enumerate
_BLOCK_PATHS = 8_000_000

#: cells of the table in which the pairs of one block are looked up
_BLOCK_CELLS = 2**25

_KEYS = ["pca_confidence", "support", "atoms", "head_relation", "shape", "first", "second"]


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
    """Per relation its facts, and which argument is its functional variable.

    ``by_head`` and ``by_tail`` hold the relations whose functional variable is ?a, or ?b, and which
    entities occur as that argument: ids, and a matrix of one row per id and one column per entity.
    """

    facts: np.ndarray
    by_head: tuple[np.ndarray, sparse.csr_array]
    by_tail: tuple[np.ndarray, sparse.csr_array]

    @classmethod
    def of(cls, steps: Steps) -> _HeadRelations:
        heads, tails = steps.ends
        facts = np.bincount(steps.step, minlength=2 * steps.num_relations)[: steps.num_relations]
        # Distinct values per fact: the same denominator on both sides.
        first = heads.sum(axis=1) >= tails.sum(axis=1)
        ids = np.flatnonzero(first), np.flatnonzero(~first)
        return cls(facts, (ids[0], heads[ids[0]]), (ids[1], tails[ids[1]]))


#: the pairs of some bodies: x, second step (0 where there is none), y, position of (x, y) in
#: `Steps.pairs` (-1 where no fact joins them); each (x, second, y) once
_Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _bodies(steps: Steps, first: int) -> Iterator[tuple[str, Iterable[_Rows]]]:
    """Yield, per shape of body, all bodies that begin with a step."""
    at = np.flatnonzero(steps.step == first)
    pair = steps.pairs[1][at]
    yield "single", [(steps.start[at], np.zeros(len(at), np.int64), steps.end[at], pair)]
    joined = steps.of_pair[pair].tocoo()
    both = at[joined.row]
    yield "joint", [(steps.start[both], joined.col, steps.end[both], pair[joined.row])]
    yield "chain", _chains(steps, first)


def _chains(steps: Steps, first: int) -> Iterator[_Rows]:
    """Yield the bodies x –first→ h –second→ y for all second steps, in blocks of x."""
    matrix, width = steps.matrix(first), steps.num_entities
    paths = matrix @ np.diff(steps.side_by_side.indptr)
    starts = np.flatnonzero(paths)
    before = np.concatenate([[0], np.cumsum(paths[starts])])
    done = 0
    while done < len(starts):
        fits = int(np.searchsorted(before, before[done] + _BLOCK_PATHS, side="right")) - 1
        stop = max(done + 1, min(fits, done + _BLOCK_CELLS // width))
        block = starts[done:stop]
        product = (matrix[block] @ steps.side_by_side).tocoo()
        second, end = np.divmod(product.col.astype(np.int64), width)
        position = _positions(steps, block)[product.row, end]
        yield block[product.row], second, end, position
        done = stop


def _positions(steps: Steps, starts: np.ndarray) -> np.ndarray:
    """Return where each (start, entity) is in `Steps.pairs`, or -1: shape ``(n, |E|)``."""
    keys, _ = steps.pairs
    first, last = np.searchsorted(keys, np.stack([starts, starts + 1]) * steps.num_entities)
    counts = last - first
    row = np.repeat(np.arange(len(starts)), counts)
    at = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    table = np.full((len(starts), steps.num_entities), -1, dtype=np.int32)
    table[row, keys[at] % steps.num_entities] = at
    return table


def _count(steps: Steps, heads: _HeadRelations, blocks: Iterable[_Rows]) -> dict[str, np.ndarray]:
    """Count support, body size and PCA body size: int64, ``(second steps, head relations)``."""
    shape = (2 * steps.num_relations, steps.num_relations)
    support, size, pca = (np.zeros(shape) for _ in range(3))
    forward = steps.of_pair[:, : steps.num_relations]
    for start, second, end, pair in blocks:
        per_step = np.bincount(second, minlength=shape[0])
        used = np.flatnonzero(per_step)
        row = np.searchsorted(used, second)
        hit = pair >= 0
        chosen = sparse.csr_array(
            (np.ones(hit.sum()), (row[hit], pair[hit])), shape=(len(used), forward.shape[0])
        )
        support[used] += (chosen @ forward).toarray()
        size += per_step[:, None]
        for (relations, ends), entity in ((heads.by_head, start), (heads.by_tail, end)):
            count = np.bincount(
                entity * len(used) + row, minlength=steps.num_entities * len(used)
            ).reshape(steps.num_entities, len(used))
            # Sparse on the left: a dense product would start BLAS threads, which cost more than
            # they save.
            pca[np.ix_(used, relations)] += (ends @ count.astype(float)).T
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
    found["functional_variable"] = np.where(np.isin(head, heads.by_head[0]), "?a", "?b")
    found["atoms"] = np.where(found["shape"] == "single", 1, 2)
    found = found.sort_values(_KEYS, ascending=[False, False] + [True] * (len(_KEYS) - 2))
    found = found.head(max_rules) if max_rules is not None else found
    rules = [
        path_rule(
            head,
            (first,) if shape == "single" else (first, second),
            graph.num_relations,
            shape == "joint",
        )
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
