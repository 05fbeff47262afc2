"""Counting the bodies x –first→ h –second→ y of rules, for one first and all second steps.

Defined in numbers.md#9-rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgdash.engine.rule_kernels import (
    Groups,
    Hits,
    Lists,
    Pairs,
    Sums,
    count_chains,
    count_chains_backwards,
)
from kgdash.progress import Beat
from kgdash.studies.rules.directed_edges import DirectedEdges

#: chains that are counted before others hear of it: half a second or less
_AT_ONCE = 2**28


@dataclass(frozen=True)
class Chains:
    """The facts of a graph in the orders in which chains are counted.

    ``groups``: the steps that leave each entity; ``facts``: by head; ``by_head`` and ``by_tail``:
    per entity, the relations that it is the functional argument of.
    """

    steps: DirectedEdges
    groups: Groups
    facts: Pairs
    by_head: Lists
    by_tail: Lists

    @classmethod
    def of(
        cls,
        steps: DirectedEdges,
        by_head: tuple[np.ndarray, sparse.csr_array],
        by_tail: tuple[np.ndarray, sparse.csr_array],
    ) -> Chains:
        """Sort the facts.

        :param by_head: relations whose functional argument is the head: ids, and which entities are
            heads of each, shape ``(ids, |E|)``
        :param by_tail: the other relations, likewise by tails
        """
        order = np.lexsort((steps.end, steps.step, steps.start))
        start, step = steps.start[order], steps.step[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(start) != 0) | (np.diff(step) != 0)
        first = np.flatnonzero(new)
        groups = np.column_stack([np.append(step[first], -1), np.append(first, len(order))])
        forward = step < steps.num_relations
        pairs = np.column_stack([step[forward], steps.end[order][forward]])
        return cls(
            steps,
            Groups(
                _starts(start[first], steps.num_entities),
                groups.astype(np.int64),
                steps.end[order].astype(np.int64),
            ),
            Pairs(
                _starts(start[forward], steps.num_entities),
                np.ascontiguousarray(pairs, dtype=np.int64),
            ),
            _argued(*by_head),
            _argued(*by_tail),
        )

    def count(self, first: int, beat: Beat) -> dict[str, np.ndarray]:
        """Count support, body size and PCA body size: int64, ``(second steps, head relations)``.

        :param beat: called now and then; may raise to end it
        """
        relations = self.steps.num_relations
        sums = self._count(
            first, Hits(np.zeros((2 * relations, relations), bool), self._no_fact), beat
        )
        inverse = (np.arange(2 * relations) + relations) % (2 * relations)
        back = self._ends(inverse[first])
        ends = Lists(self.groups.groups[self.groups.starts, 1], self.groups.ends)
        for begin, end in _parts(ends, np.diff(back.starts)):
            beat()
            argued = _only(self.by_tail, begin, end)
            count_chains_backwards(back, self.groups, inverse, argued, sums.pca)
        whole = np.repeat(sums.size[:, None], relations, axis=1)
        return {"support": sums.support, "body_size": whole, "pca_body_size": sums.pca}

    def count_rules(self, first: int, mined: np.ndarray, counts: np.ndarray, beat: Beat) -> None:
        """Add, to each fact's count, the rules whose chain leads to it.

        :param mined: which rules there are that begin with a step: bool, ``(second steps, head
            relations)``
        :param counts: int64, ``(facts,)``, by head, relation and tail; added to
        :param beat: called now and then; may raise to end it
        """
        self._count(first, Hits(mined, counts), beat)

    def _count(self, first: int, hits: Hits, beat: Beat) -> Sums:
        relations = self.steps.num_relations
        size = np.zeros(2 * relations, dtype=np.int64)
        support, pca = np.zeros((2, 2 * relations, relations), dtype=np.int64)
        sums = Sums(size, support, pca)
        ends, leaving = self._ends(first), np.diff(self.groups.groups[self.groups.starts, 1])
        for begin, end in _parts(ends, leaving):
            beat()
            some = _only(ends, begin, end)
            count_chains(some, self.groups, self.facts, self.by_head, sums, hits)
        return sums

    @cached_property
    def _no_fact(self) -> np.ndarray:
        return np.zeros(len(self.facts.pairs), dtype=np.int64)

    def _ends(self, step: int) -> Lists:
        matrix = self.steps.matrix(step)
        return Lists(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))


def _parts(lists: Lists, costs: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cut entities so that what is on their lists costs `_AT_ONCE`, or one entity's list more.

    :param costs: of each entity on a list: int64, ``(n,)``
    """
    spent = np.concatenate([[0], np.cumsum(costs[lists.values])])[lists.starts[:-1]]
    cuts = np.flatnonzero(np.diff(spent // _AT_ONCE)) + 1
    yield from pairwise([0, *cuts.tolist(), len(spent)])


def _only(lists: Lists, begin: int, end: int) -> Lists:
    """Keep the lists of entities from ``begin`` to before ``end``."""
    return Lists(np.clip(lists.starts, lists.starts[begin], lists.starts[end]), lists.values)


def _starts(sorted_rows: np.ndarray, count: int) -> np.ndarray:
    return np.searchsorted(sorted_rows, np.arange(count + 1)).astype(np.int64)


def _argued(ids: np.ndarray, seen: sparse.csr_array) -> Lists:
    of_entity = sparse.csr_array(seen.T)
    return Lists(of_entity.indptr.astype(np.int64), ids[of_entity.indices].astype(np.int64))
