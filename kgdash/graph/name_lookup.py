"""Finding entities and relations by name or label, of a few or of millions."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgdash.errors import KgdashError, UnknownName
from kgdash.files.bounds import held_bytes
from kgdash.graph.arrow_texts import MANY, ArrowTexts, as_arrow, texts_at
from kgdash.graph.text_index import TextIndex, index_texts

#: texts that are looked for among all others before these are indexed, which takes as long as some
#: 40 looks
_PATIENCE = 100

#: stands between a label and the name of whose it is
_BEFORE_NAME = " ("

#: names that are compared with one that is not found, where there are many
_NEAR = 1_000

#: bytes that are compared at once, how often each after the first three of what is looked for, and
#: the share of texts that many are
_BLOCK, _LOOKS, _MOST = 1 << 21, 2, 1 / 8


class NameLookup:
    """The names and labels of a graph's entities, or relations, in the order of their ids."""

    def __init__(self, names: Sequence[str], labels: Sequence[str], kind: str, where: str) -> None:
        """Take as many names as labels.

        :param kind: what they are of, as messages name it; ``where``: likewise the graph
        """
        self._names, self._labels, self._kind, self._where = names, labels, kind, where
        self._looks, self._indices = 0, dict[int, TextIndex]()
        self._kinds = (0,) if labels is names else (0, 1)

    def take_folded(self, folded: list[pa.Array]) -> None:
        """Take what `folded` gave of equal names and labels, instead of folding them again."""
        self.folded = folded

    def find(self, name: str) -> int:
        """Return the id of a name, else of a label, else of either regardless of case.

        :raises KgdashError: if nothing matches (the nearest are named), or a label is ambiguous
        """
        found = self.called(name)
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(repr(self._names[i]) for i in found[:5])
            raise KgdashError(
                f"{len(found)} entries of {self._where} are labelled {name!r}; "
                f"give the name of the {self._kind} instead: {several}"
            )
        raise UnknownName(self._kind, name, lambda: self._near(name), self._where)

    def ids_of(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of those names that are there, each given once; labels count as none.

        A table of all names takes long to make, and its room.
        """
        wanted = as_arrow([name for name in names if _is_text(name)])
        places = pc.index_in(as_arrow(self._names), value_set=wanted)
        ids = np.flatnonzero(_mask(places.is_valid())).tolist()
        return dict(zip(wanted.take(places.drop_null()).to_pylist(), ids, strict=True))

    def _near(self, name: str) -> list[str]:
        """Return the names and labels that one that is not there is compared with."""
        near: Sequence[int] = range(len(self._names))
        if len(near) > MANY:
            near = self.holding(name[:4])[0][:_NEAR].tolist()
        return list(dict.fromkeys(texts[i] for texts in (self._names, self._labels) for i in near))

    def distinct_label(self, number: int) -> str:
        """Return the label of an id, with its name where others have that label, or that name."""
        label, name = self._labels[number], self._names[number]
        if not self._shared[number]:
            return label
        return name if self._taken[number] else f"{label}{_BEFORE_NAME}{name})"

    def distinct_labels(self, numbers: np.ndarray) -> np.ndarray:
        """Return `distinct_label` of each id, int64, ``(n,)``: objects, equal ones the same."""
        texts = texts_at(self._labels, numbers)
        rows = np.flatnonzero(self._shared[numbers])
        ids, place = np.unique(numbers[rows], return_inverse=True)
        made = np.array([self.distinct_label(int(each)) for each in ids], dtype=object)
        texts[rows] = made[place]
        return texts

    def longest_texts(self) -> Iterator[str]:
        """Yield of every id what is longer when it is written: its name, or `distinct_label`.

        Nothing is looked up before the first is asked for.
        """
        numbers = np.arange(len(self._names))
        both = zip(texts_at(self._names, numbers), self.distinct_labels(numbers), strict=True)
        yield from (max(texts, key=held_bytes) for texts in both)

    @cached_property
    def _taken(self) -> np.ndarray:
        """Whose label with its name beside it is found as something else: bool."""
        taken = np.zeros(len(self._names), dtype=bool)
        names, labels = self._exact
        ids = pa.array(np.flatnonzero(self._shared))
        own, of = labels.take(ids), names.take(ids)
        before, nothing, close = (pa.scalar(each, own.type) for each in (_BEFORE_NAME, "", ")"))
        written = pc.binary_join_element_wise(own, of, before)
        written = pc.binary_join_element_wise(written, nothing, close)
        found = pc.or_(pc.is_in(written, names), pc.is_in(written, labels))
        taken[ids.to_numpy()] = _mask(pc.or_(found, pc.match_substring(of, _BEFORE_NAME)))
        return taken

    @cached_property
    def _shared(self) -> np.ndarray:
        """Whose label another has, too, or has for a name: bool."""
        if self._labels is self._names:
            return np.zeros(len(self._names), dtype=bool)
        names, labels = self._exact
        counts = pc.value_counts(labels)
        several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        named = pc.and_(pc.is_in(labels, names), pc.not_equal(labels, names))
        return _mask(pc.or_(pc.is_in(labels, several), named))

    def called(self, name: str) -> list[int]:
        """Return the ids of a name, else of a label, else of either regardless of case."""
        if found := self.exactly(name):
            return found
        folded = name.casefold()
        return sorted({place for kind in self._kinds for place in self._places(2 + kind, folded)})

    def own_name(self, text: str) -> str:
        """Return the name of what a text calls, or the text where that is nothing or several."""
        found = self.called(text)
        return self._names[found[0]] if len(found) == 1 else text

    def exactly(self, name: str) -> list[int]:
        """Return the ids of a name, else of a label, ascending, else of a `distinct_label`."""
        for kind in self._kinds:
            if found := self._places(kind, name):
                return found
        label, _, of = name.removesuffix(")").rpartition(_BEFORE_NAME)
        named = self._places(0, of) if label and name.endswith(")") else []
        return [place for place in named if self._labels[place] == label]

    def _places(self, kind: int, text: str) -> list[int]:
        """Return where a text stands: looked through at first, later by an index.

        :param kind: 0 names, 1 labels; 2 and 3: these with their case folded
        """
        if not _is_text(text):
            return []
        texts = (self._exact if kind < 2 else self.folded)[kind % 2]
        self._looks += 1
        if self._looks <= _PATIENCE:
            return [int(place) for place in np.flatnonzero(_mask(pc.equal(texts, text)))]
        if kind not in self._indices:
            self._indices[kind] = index_texts(ArrowTexts(texts))
        return self._indices[kind].places(text)

    def holding(self, part: str) -> tuple[np.ndarray, np.ndarray]:
        """Find those whose name or label holds a text, regardless of case.

        :return: ids, ascending; and for each 0 where the label is the text, 1 where it begins with
            it, else 2; int64, ``(n,)``
        """
        if not _is_text(part):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        wanted = part.casefold()
        found = np.flatnonzero(np.logical_or(*(_holding(texts, wanted) for texts in self.folded)))
        labels = self.folded[1].take(pa.array(found))
        begins, equal = _mask(pc.starts_with(labels, wanted)), _mask(pc.equal(labels, wanted))
        return found, 2 - begins.astype(np.int64) - equal

    @cached_property
    def _exact(self) -> list[pa.Array]:
        return [as_arrow(texts) for texts in (self._names, self._labels)]

    @cached_property
    def folded(self) -> list[pa.Array]:
        """Names and labels with their case folded, each one `pyarrow.large_string`."""
        names, labels = self._exact
        folded = _folded(names)
        return [folded, folded if self._labels is self._names else _folded(labels)]


def _folded(texts: pa.Array) -> pa.Array:
    """Fold the case of texts: those of ASCII at once."""
    other = pc.invert(pc.string_is_ascii(texts))
    folded = [text.casefold() for text in texts.filter(other).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(texts), other, as_arrow(folded))


def _holding(texts: pa.Array, part: str) -> np.ndarray:
    """Tell which texts hold a part: bool, ``(n,)``.

    They are looked through as one run of bytes, which takes a quarter of the time of Arrow's search
    in each of them, but where many hold it.

    :param texts: of `pyarrow.large_string`
    """
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset :][: len(texts) + 1]
    wanted = np.frombuffer(part.encode(), np.uint8)
    if data is None or not len(wanted):
        return _mask(pc.match_substring(texts, part))
    content, places, count = np.frombuffer(data, np.uint8)[: ends[-1]], [], 0
    for start in range(ends[0], len(content), _BLOCK):
        block = content[start : start + _BLOCK + len(wanted) - 1]
        inside = _places(block, wanted)
        if inside is None:
            return _mask(pc.match_substring(texts, part))
        places.append(start + inside)
        count += len(inside)
        if count > _MOST * len(texts):
            return _mask(pc.match_substring(texts, part))
    found = np.zeros(len(texts), dtype=bool)
    for place in places:
        owner = np.searchsorted(ends, place, side="right") - 1
        found[owner[place + len(wanted) <= ends[owner + 1]]] = True
    return found


def _places(block: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """Find where bytes stand among others: the first three everywhere, the others where these do.

    :param block: uint8; ``wanted``: uint8, at least one
    :return: int64, or None where so much begins like them that this takes long
    """
    count, left = max(0, len(block) - len(wanted) + 1), _LOOKS * len(block)
    here = np.ones(count, dtype=bool)
    for k, byte in enumerate(wanted[:3]):
        here &= block[k : k + count] == byte
    place = np.flatnonzero(here)
    for k, byte in enumerate(wanted[3:], 3):
        left -= len(place)
        if left < 0:
            return None
        place = place[block[place + k] == byte]
    return place


def _is_text(text: str) -> bool:
    """Tell whether a text can be a name: one that is no UTF-8 is none."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _mask(found: pa.Array) -> np.ndarray:
    """Return bools, ``(n,)``."""
    return found.to_numpy(zero_copy_only=False)
