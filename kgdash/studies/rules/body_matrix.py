"""The body of a rule as sparse matrices: which head triples it gives, without listing its paths.

A body of at most three atoms over variables is a small graph of variables. Constants and repeated
variables narrow one variable; atoms on the same two variables are one condition; a variable that
only one other variable is linked with narrows that one. What is left is a path from the head's
first variable to its second (or back to itself), perhaps with a condition on both. So the pairs of
values come out of sparse products, each pair once, in blocks of the first variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from kgdash.studies.rules.directed_edges import DirectedEdges
from kgdash.studies.rules.rule import Rule

#: pairs of values that one block may give
_BLOCK_PAIRS = 4_000_000


@dataclass(frozen=True)
class Leaf:
    """A variable that is linked with one other variable alone: its values per value of that one."""

    stem: str
    variable: str
    matrix: sparse.csr_array


@dataclass(frozen=True)
class Body:
    """What is left of a rule's body on some facts, see above.

    ``start`` is the head's first variable, ``inner`` the variables on the way to ``end``: the
    head's second variable, or ``start`` itself. ``way`` holds their matrices, one more than inner
    variables, or none; ``direct`` joins start and end. ``allowed`` are the values of ``start``:
    bool, ``(|E|,)``. ``leaves`` can be joined in their order.
    """

    rule: Rule
    start: str
    inner: tuple[str, ...]
    end: str
    way: tuple[sparse.csr_array, ...]
    direct: sparse.csr_array | None
    allowed: np.ndarray
    leaves: tuple[Leaf, ...]

    @classmethod
    def of(cls, rule: Rule, steps: DirectedEdges) -> Body:
        """Reduce the body of a rule on the facts of ``steps``."""
        links = _Links.of(rule, steps)
        heads = rule.head_variables
        leaves = links.without_leaves(heads)
        start, end = heads[0], heads[-1]
        inner = links.way_from(start, end)
        stops = (start, *inner, end) if inner else ()
        return cls(
            rule=rule,
            start=start,
            inner=inner,
            end=end,
            way=tuple(links.between(u, v) for u, v in pairwise(stops)),
            direct=links.between(start, end) if (start, end) in links.matrices else None,
            allowed=links.allowed[start],
            leaves=leaves,
        )

    def head_triples(self) -> Iterator[np.ndarray]:
        """Yield all head triples for which the body holds, each once: int64, ``(n, 3)``, sorted.

        Each block is sorted by the head's first variable, then its second.
        """
        for rows in self._blocks():
            first, second = self._pairs(rows)
            value = {self.end: second, self.start: first}
            relation, *ends = self.rule.head
            columns = [
                value[term] if isinstance(term, str) else np.full(len(first), term) for term in ends
            ]
            columns.insert(1, np.full(len(first), relation))
            yield np.column_stack(columns).astype(np.int64)

    def _blocks(self) -> Iterator[np.ndarray]:
        """Cut the values of ``start`` so that no product exceeds the limit by more than a row."""
        rows = np.flatnonzero(self.allowed)
        cost: np.ndarray = np.ones(len(rows))
        for length in range(1, len(self.way) + 1):
            paths = np.ones(len(self.allowed))
            for matrix in reversed(self.way[:length]):
                paths = matrix @ paths
            cost = np.maximum(cost, np.minimum(paths[rows], len(self.allowed)))
        if self.direct is not None and not self.way:
            cost = np.diff(self.direct.indptr)[rows]
        place = np.cumsum(cost) // _BLOCK_PAIRS
        if len(rows):
            yield from np.split(rows, np.flatnonzero(np.diff(place)) + 1)

    def _pairs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of start, out of some, and of end: sorted, each pair once."""
        found = None if self.direct is None else self.direct[rows]
        if self.way:
            product = self.way[0][rows]
            for matrix in self.way[1:]:
                product = product @ matrix
            found = product if found is None else found.multiply(product)
        if found is None:
            return rows, rows
        found = sparse.csr_array(found)
        found.eliminate_zeros()
        found.sort_indices()
        first, second = np.repeat(rows, np.diff(found.indptr)), found.indices
        if self.start == self.end:
            back = first == second
            return first[back], first[back]
        return first, second


@dataclass
class _Links:
    """A body while it is reduced: values allowed per variable, and a matrix per linked pair."""

    allowed: dict[str, np.ndarray]
    matrices: dict[tuple[str, str], sparse.csr_array]

    @classmethod
    def of(cls, rule: Rule, steps: DirectedEdges) -> _Links:
        links = cls({}, {})
        for relation, start, end in rule.body:
            matrix = steps.matrix(relation)
            if isinstance(start, int):
                assert isinstance(end, str)  # a rule has a variable in every atom
                links._narrow(end, matrix[[start]].toarray()[0])
            elif isinstance(end, int):
                back = steps.matrix(relation + steps.num_relations)
                links._narrow(start, back[[end]].toarray()[0])
            elif start == end:
                links._narrow(start, matrix.diagonal())
            else:
                links._link(start, end, matrix)
                links._link(end, start, sparse.csr_array(matrix.T))
        for u, v in links.matrices:
            for variable in (u, v):
                links.allowed.setdefault(variable, np.ones(steps.num_entities, dtype=bool))
        for (u, v), matrix in links.matrices.items():
            links.matrices[u, v] = _masked(matrix, links.allowed[u], links.allowed[v])
        return links

    def between(self, u: str, v: str) -> sparse.csr_array:
        """Return the pairs of values of two linked variables: bool, ``(|E|, |E|)``."""
        return self.matrices[u, v]

    def without_leaves(self, heads: tuple[str, ...]) -> tuple[Leaf, ...]:
        """Take off variables of the body alone that one other is linked with, the nearest last."""
        leaves: list[Leaf] = []
        while leaf := next((v for v in self.allowed if v not in heads and self._single(v)), None):
            (stem,) = self._near(leaf)
            matrix = self.matrices.pop((stem, leaf))
            del self.matrices[leaf, stem]
            leaves.insert(0, Leaf(stem, leaf, matrix))
            self._narrow(stem, np.diff(matrix.indptr) > 0)
            for near in self._near(stem):
                for pair in ((stem, near), (near, stem)):
                    u, v = (self.allowed[variable] for variable in pair)
                    self.matrices[pair] = _masked(self.matrices[pair], u, v)
        return tuple(leaves)

    def way_from(self, start: str, end: str) -> tuple[str, ...]:
        """Return the variables between two, in the order of the way from one to the other."""
        way: list[str] = []
        here = start
        while ahead := [v for v in self._near(here) if v not in (*way, start, end)]:
            here = ahead[0]
            way.append(here)
        return tuple(way)

    def _near(self, variable: str) -> list[str]:
        return [v for u, v in self.matrices if u == variable]

    def _single(self, variable: str) -> bool:
        return len(self._near(variable)) == 1

    def _narrow(self, variable: str, values: np.ndarray) -> None:
        self.allowed[variable] = self.allowed.get(variable, True) & values

    def _link(self, u: str, v: str, matrix: sparse.csr_array) -> None:
        other = self.matrices.get((u, v))
        self.matrices[u, v] = matrix if other is None else sparse.csr_array(matrix.multiply(other))


def _masked(matrix: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
    """Keep the entries in some rows and columns."""
    if rows.all() and columns.all():
        return matrix
    row = np.repeat(np.arange(len(rows)), np.diff(matrix.indptr))
    kept = rows[row] & columns[matrix.indices] & matrix.data
    return sparse.csr_array(
        (np.ones(kept.sum(), dtype=bool), (row[kept], matrix.indices[kept])), shape=matrix.shape
    )
