"""Conditions on the columns of a table of ranks: ``head_degree >= 100 and realistic > 10``.

The text is Python's, parsed and never run: comparisons (also chained, ``2 <= answers < 10``),
``in`` and ``not in`` a list, ``"part" in relation``, ``and``, ``or``, ``not`` and brackets.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kgdash.breakdowns.rank_facts import RankFacts
from kgdash.errors import KgdashError, unknown_name

#: characters and nested brackets or operators beyond which a condition is refused
_MAX_LENGTH, _MAX_DEPTH = 20_000, 50

#: columns of whole or real numbers
NUMBERS: dict[str, Callable[[RankFacts], np.ndarray]] = {
    "head_degree": lambda facts: facts.degree("head"),
    "tail_degree": lambda facts: facts.degree("tail"),
    "answers": lambda facts: facts.answers,
    "frequency": lambda facts: facts.frequency,
    "optimistic": lambda facts: facts.ranks["optimistic"].to_numpy(),
    "realistic": lambda facts: facts.ranks["realistic"].to_numpy(),
    "pessimistic": lambda facts: facts.ranks["pessimistic"].to_numpy(),
    "candidates": lambda facts: facts.ranks["candidates"].to_numpy(),
    "equal_scores": lambda facts: facts.equal_scores,
}


class _Names(NamedTuple):
    """A column of names: what each of the ``spellings`` of a number is, and each row's number."""

    codes: np.ndarray
    spellings: tuple[tuple[str, ...], ...]

    def where(self, test: Callable[[str], bool]) -> np.ndarray:
        """Tell the rows of which a spelling passes: bool, shape ``(n,)``."""
        passes = [any(map(test, each)) for each in zip(*self.spellings, strict=True)]
        return np.array(passes, dtype=bool)[self.codes]


def _entities(column: int) -> Callable[[RankFacts], _Names]:
    return lambda facts: _Names(
        facts.triples[:, column], (facts.graph.entities, facts.graph.entity_labels)
    )


def _kinds(column: str) -> Callable[[RankFacts], _Names]:
    def of(facts: RankFacts) -> _Names:
        kinds = facts.kind(column) if column != "side" else facts.sides
        return _Names(kinds.codes, (tuple(kinds.categories),))

    return of


#: columns of names; entities and relations go by name and by label
NAMES: dict[str, Callable[[RankFacts], _Names]] = {
    "head": _entities(0),
    "relation": lambda facts: _Names(
        facts.triples[:, 1], (facts.graph.relations, facts.graph.relation_labels)
    ),
    "tail": _entities(2),
    "side": _kinds("side"),
    "cardinality": _kinds("cardinality"),
    "pattern": _kinds("pattern"),
}

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}

_EXAMPLE = 'write for example head_degree >= 100 and relation in ["a", "b"]'


class Condition:
    """A condition that was understood."""

    def __init__(self, text: str) -> None:
        """Parse a condition.

        :param text: see the module; columns are `NUMBERS` and `NAMES`
        :raises KgdashError: if it is no such condition, naming the place and what was expected
        """
        self.text = text.strip()
        if len(self.text) > _MAX_LENGTH:
            raise KgdashError(
                f"expected a condition of at most {_MAX_LENGTH:,} characters; found {len(text):,}"
            )
        try:
            self._tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            place = f" at character {error.offset}" if isinstance(error, SyntaxError) else ""
            raise self._wrong(f"can not be read{place}") from None
        self._check(self._tree, 0)

    def holds(self, facts: RankFacts) -> np.ndarray:
        """Tell for which ranks it holds: bool, shape ``(n,)``."""
        return self._evaluate(self._tree, facts)

    def _check(self, node: ast.AST, depth: int) -> None:
        """Refuse whatever `_evaluate` does not know."""
        if depth > _MAX_DEPTH:
            raise self._wrong(f"is nested more than {_MAX_DEPTH} deep")
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._check(value, depth + 1)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._check(node.operand, depth + 1)
        elif isinstance(node, ast.Compare):
            for left, compare, right in _comparisons(node):
                self._check_comparison(left, compare, right)
        else:
            raise self._wrong(f"holds {self._source(node)!r}, which compares nothing")

    def _check_comparison(self, left: ast.expr, compare: ast.cmpop, right: ast.expr) -> None:
        shown = f"{self._source(left)} … {self._source(right)}"
        columns = [self._column(side) for side in (left, right)]
        if (columns[0] is None) == (columns[1] is None):
            what = "compares two values" if columns[0] is None else "compares two columns"
            raise self._wrong(f"{what} ({shown}); expected a column and a value")
        column = columns[0] or columns[1]
        value = self._value(right if columns[0] else left)
        is_list, numeric = isinstance(value, list), column in NUMBERS
        expected = int | float if numeric else str
        if not all(isinstance(v, expected) for v in (value if is_list else [value])):
            kind = "numbers" if numeric else 'names in quotes, such as "head"'
            raise self._wrong(f"compares {column} with {self._source(right)}; expected {kind}")
        part_of = isinstance(compare, ast.In | ast.NotIn) and columns[1] is not None
        if isinstance(compare, ast.In | ast.NotIn):
            fits = (not is_list and not numeric) if part_of else is_list
        else:
            fits = not is_list and (numeric or isinstance(compare, ast.Eq | ast.NotEq))
        fits &= isinstance(compare, (*_ORDER, ast.Eq, ast.NotEq, ast.In, ast.NotIn))
        if not fits:
            ways = (
                "<, <=, >, >=, ==, != and a number, or in and a list"
                if numeric
                else '== or != and a name, in and a list, or "part" in the column'
            )
            raise self._wrong(f"can not compare {shown} this way; {column} takes {ways}")

    def _column(self, node: ast.expr) -> str | None:
        if not isinstance(node, ast.Name):
            return None
        if node.id not in NUMBERS and node.id not in NAMES:
            raise unknown_name("column", node.id, [*NAMES, *NUMBERS], f"condition {self.text!r}")
        return node.id

    def _value(self, node: ast.expr) -> Any:
        """Return the number, name, or list of these that is written there."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [self._value(item) for item in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand)
            if isinstance(value, int | float):
                return -value
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
            return node.value
        raise self._wrong(f"holds {self._source(node)!r}; expected a number or a name in quotes")

    def _evaluate(self, node: ast.AST, facts: RankFacts) -> np.ndarray:
        if isinstance(node, ast.BoolOp):
            parts = [self._evaluate(value, facts) for value in node.values]
            joined = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return joined.reduce(parts)
        if isinstance(node, ast.UnaryOp):
            return ~self._evaluate(node.operand, facts)
        assert isinstance(node, ast.Compare)
        return np.logical_and.reduce([self._compare(*c, facts) for c in _comparisons(node)])

    def _compare(
        self, left: ast.expr, compare: ast.cmpop, right: ast.expr, facts: RankFacts
    ) -> np.ndarray:
        turned = self._column(left) is None
        column = self._column(right if turned else left) or ""
        value, kind = self._value(left if turned else right), type(compare)
        if kind in (ast.NotEq, ast.NotIn):
            opposite = ast.Eq() if kind is ast.NotEq else ast.In()
            return ~self._compare(left, opposite, right, facts)
        if column in NAMES:
            names = NAMES[column](facts)
            if kind is ast.In and turned:
                return names.where(lambda name: value in name)
            return names.where(set(value if kind is ast.In else [value]).__contains__)
        numbers = NUMBERS[column](facts)
        if kind in (ast.In, ast.Eq):
            return np.isin(numbers, value)
        return _ORDER[_MIRRORED[kind] if turned else kind](numbers, value)

    def _source(self, node: ast.AST) -> str:
        return (ast.get_source_segment(self.text, node) or "")[:60]

    def _wrong(self, reason: str) -> KgdashError:
        shown = self.text if len(self.text) <= 200 else f"{self.text[:200]}…"
        return KgdashError(f"condition {shown!r} {reason}; {_EXAMPLE}")


def _comparisons(node: ast.Compare) -> list[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """Cut ``a < b < c`` into ``a < b`` and ``b < c``."""
    sides = [node.left, *node.comparators]
    return list(zip(sides[:-1], node.ops, sides[1:], strict=True))
