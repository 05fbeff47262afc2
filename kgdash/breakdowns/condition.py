"""Conditions on the columns of a table of ranks: rows of column, operator and value."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kgdash.breakdowns.rank_facts import RankFacts
from kgdash.errors import KgdashError, unknown_name

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
    spellings: tuple[Sequence[str], ...]

    def where(self, test: Callable[[str], bool]) -> np.ndarray:
        """Tell the rows of which a spelling passes: bool, shape ``(n,)``."""
        passes = [any(map(test, each)) for each in zip(*self.spellings, strict=True)]
        return np.array(passes, dtype=bool)[self.codes]

    def called(self, names: set[str]) -> np.ndarray:
        """Tell the rows of some names, else of labels that no name is: bool, shape ``(n,)``."""
        passes, left = np.zeros(len(self.spellings[0]), dtype=bool), names
        for spelling in self.spellings:
            passes |= [each in left for each in spelling]
            left = left.difference(spelling)
        return passes[self.codes]


def _entities(column: int) -> Callable[[RankFacts], _Names]:
    return lambda facts: _Names(
        facts.triples[:, column], (facts.graph.entities, facts.graph.entity_labels)
    )


def _kinds(column: str) -> Callable[[RankFacts], _Names]:
    def of(facts: RankFacts) -> _Names:
        kinds = facts.kind(column) if column != "side" else facts.sides
        return _Names(kinds.codes, (tuple(kinds.categories),))

    return of


#: columns of names; entities and relations go by name, else by label
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

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "==": operators.eq,
    "!=": operators.ne,
}

#: characters of a value
MOST_CHARACTERS = 2_000

#: between the names of a list, for the operator "in"
BETWEEN = "|"

_EXAMPLE = "such as frequency < 100, side == tail, relation in causes|affects"


def operators_of(column: str) -> tuple[str, ...]:
    """Return what a column can be compared by.

    :raises KgdashError: if there is no such column
    """
    if column in NUMBERS:
        return tuple(_COMPARISONS)
    if column in NAMES:
        return "==", "!=", "in", "contains"
    raise unknown_name("column", column, [*NAMES, *NUMBERS], "conditions")


@dataclass(frozen=True)
class Condition:
    """One comparison of a column of `NUMBERS` or `NAMES`.

    ``value`` is a number, or a name; for "in" several names, `BETWEEN` between them, for "contains"
    a part of one.

    :raises KgdashError: if the column is unknown or does not take the operator or value
    """

    column: str
    operator: str
    value: float | str

    def __post_init__(self) -> None:
        ways = operators_of(self.column)
        if self.operator not in ways:
            raise KgdashError(
                f"{self.column} can not be compared by {self.operator!r}; it takes "
                f"{', '.join(ways)}"
            )
        if isinstance(self.value, str) and len(self.value) > MOST_CHARACTERS:
            raise KgdashError(
                f"expected a value of at most {MOST_CHARACTERS:,} characters for {self.column}; "
                f"found {len(self.value):,}"
            )
        if self.column in NUMBERS:
            try:
                object.__setattr__(self, "value", float(self.value))
            except (ValueError, OverflowError):
                raise KgdashError(
                    f"{self.column} is compared with a number; found {self.value!r:.80} (one row "
                    f"for each condition, {_EXAMPLE})"
                ) from None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read one row: column, operator and value with blanks between them.

        Quotes about the value may be left out.

        :raises KgdashError: if it is no such row
        """
        parts = text.split(maxsplit=2)
        if len(parts) < 3:
            raise KgdashError(
                f"expected column, operator and value, {_EXAMPLE}; found {text!r:.80}"
            )
        column, way, value = parts
        operators_of(column)
        value = value.strip()
        quote = value[0]
        if quote in "\"'":
            value = value[1:-1] if len(value) > 1 and value.endswith(quote) else value
            if quote in value:
                raise KgdashError(f"expected one value, {_EXAMPLE}; found {text!r:.80}")
        return cls(column, way, value)

    @property
    def text(self) -> str:
        """Return the row as people write it."""
        value = f"{self.value:.15g}" if isinstance(self.value, float) else self.value
        return f"{self.column} {self.operator} {value}"

    def holds(self, facts: RankFacts) -> np.ndarray:
        """Tell for which ranks it holds: bool, shape ``(n,)``.

        :raises KgdashError: if a name is none of the column's
        """
        if self.column in NUMBERS:
            return _COMPARISONS[self.operator](NUMBERS[self.column](facts), self.value)
        names, value = NAMES[self.column](facts), str(self.value)
        if self.operator == "contains":
            return names.where(lambda name: value in name)
        wanted = (
            {name.strip() for name in value.split(BETWEEN)} if self.operator == "in" else {value}
        )
        for name in wanted:
            if not any(name in spelling for spelling in names.spellings):
                known = list(dict.fromkeys(name for some in names.spellings for name in some))
                raise unknown_name(self.column, name, known, f"condition {self.text!r}")
        holds = names.called(wanted)
        return ~holds if self.operator == "!=" else holds
