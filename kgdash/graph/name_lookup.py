"""Finding entities and relations by name or label, of a few or of millions."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgdash.errors import KgdashError, unknown_name

#: names beyond which all are looked through each time, hundredths of a second for millions: tables
#: that find one at once take gigabytes then; and how many are compared with one that is not found
_MANY, _NEAR = 500_000, 1_000


class NameLookup:
    """The names and labels of a graph's entities, or relations, in the order of their ids."""

    def __init__(self, names: Sequence[str], labels: Sequence[str], kind: str, where: str) -> None:
        """Take as many names as labels.

        :param kind: what they are of, as messages name it; ``where``: likewise the graph
        """
        self._names, self._labels, self._kind, self._where = names, labels, kind, where

    def find(self, name: str) -> int:
        """Return the id of a name, else of a label, else of either regardless of case.

        :raises KgdashError: if nothing matches (the nearest are named), or a label is ambiguous
        """
        many = len(self._names) > _MANY
        found = self.called(name) if many else _matches(name, self._tables)
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(repr(self._names[i]) for i in found[:5])
            raise KgdashError(
                f"{len(found)} entries of {self._where} are labelled {name!r}; "
                f"give the name of the {self._kind} instead: {several}"
            )
        near = self.holding(name[:4])[0][:_NEAR].tolist() if many else range(len(self._names))
        known = [texts[i] for texts in (self._names, self._labels) for i in near]
        raise unknown_name(self._kind, name, list(dict.fromkeys(known)), self._where)

    def called(self, name: str) -> list[int]:
        """Return the ids of a name, else of a label, else of either regardless of case."""
        if not _is_text(name):
            return []
        for texts in self._exact:
            found = np.flatnonzero(_mask(pc.equal(texts, name)))
            if len(found):
                break
        else:
            folded = name.casefold()
            found = np.flatnonzero(_any(pc.equal(texts, folded) for texts in self._folded))
        return [int(number) for number in found]

    def holding(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Find those whose name or label holds a text, regardless of case.

        :return: ids, ascending; and for each 0 where the label is the text, 1 where it begins with
            it, else 2; int64, ``(n,)``
        """
        if not _is_text(part):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        wanted = part.casefold()
        found = np.flatnonzero(_any(pc.match_substring(texts, wanted) for texts in self._folded))
        labels = self._folded[1].take(pa.array(found))
        begins, equal = _mask(pc.starts_with(labels, wanted)), _mask(pc.equal(labels, wanted))
        return found, 2 - begins.astype(np.int64) - equal

    @cached_property
    def _tables(self) -> list[dict[str, list[int]]]:
        tables: list[dict[str, list[int]]] = [{}, {}, {}]
        for number, (name, label) in enumerate(zip(self._names, self._labels, strict=True)):
            tables[0].setdefault(name, []).append(number)
            tables[1].setdefault(label, []).append(number)
            for folded in {name.casefold(), label.casefold()}:
                tables[2].setdefault(folded, []).append(number)
        return tables

    @cached_property
    def _exact(self) -> list[pa.Array]:
        return [_array(texts) for texts in (self._names, self._labels)]

    @cached_property
    def _folded(self) -> list[pa.Array]:
        return [_folded(texts) for texts in self._exact]


def _matches(name: str, tables: list[dict[str, list[int]]]) -> list[int]:
    keys = zip(tables, (name, name, name.casefold()), strict=True)
    return next((found for table, key in keys if (found := table.get(key))), [])


def _array(texts: Sequence[str]) -> pa.Array:
    return pa.array(texts, type=pa.large_string())


def _folded(texts: pa.Array) -> pa.Array:
    """Fold the case of texts: those of ASCII at once."""
    other = pc.invert(pc.string_is_ascii(texts))
    folded = [text.casefold() for text in texts.filter(other).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(texts), other, _array(folded))


def _is_text(text: str) -> bool:
    """Tell whether a text can be a name: one that is no UTF-8 is none."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _any(found: Iterable[pa.Array]) -> np.ndarray:
    return np.logical_or.reduce([_mask(each) for each in found])


def _mask(found: pa.Array) -> np.ndarray:
    """Return bools, ``(n,)``."""
    return found.to_numpy(zero_copy_only=False)
