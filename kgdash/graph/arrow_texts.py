"""Millions of names as a tuple has them, without an object for each: in Arrow, or mapped by it."""

import operator
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: names from which on there are many: objects and tables of them take gigabytes
MANY = 500_000

#: texts that are made at once
_BLOCK = 1 << 16


class ArrowTexts(Sequence[str]):
    """Texts by position, what a tuple has; equal to one of the same texts."""

    def __init__(self, texts: pa.LargeStringArray) -> None:
        """Take texts, none missing; they are not copied."""
        self.texts = texts

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.texts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        """Return a text, or a tuple of them."""
        if isinstance(place, slice):
            return tuple(self.texts[place].to_pylist())
        text: str = self.texts[operator.index(place)].as_py()
        return text

    def __iter__(self) -> Iterator[str]:
        """Go through all, some made at once."""
        for some in text_blocks(self):
            yield from some

    def __contains__(self, text: object) -> bool:
        """Look through all at once."""
        return isinstance(text, str) and bool(pc.any(pc.equal(self.texts, text)).as_py())

    def __eq__(self, other: object) -> bool:
        """Compare with others of the kind, or a tuple."""
        if isinstance(other, ArrowTexts):
            return bool(self.texts.equals(other.texts))
        if not isinstance(other, tuple) or len(self) != len(other):
            return False
        return all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return all as objects, shape ``(n,)``."""
        return np.asarray(self.texts.to_numpy(zero_copy_only=False), dtype)


def release_memory() -> None:
    """Give back to the system what Arrow keeps for its next arrays: of many texts a gigabyte."""
    pa.default_memory_pool().release_unused()


def text_blocks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield all texts, some made at once."""
    for start in range(0, len(texts), _BLOCK):
        yield texts[start : start + _BLOCK]


def as_arrow(texts: Sequence[str]) -> pa.LargeStringArray:
    """Return texts as Arrow holds them, without a copy if it does."""
    return texts.texts if isinstance(texts, ArrowTexts) else pa.array(texts, pa.large_string())


def compact(texts: Sequence[str]) -> Sequence[str]:
    """Return a few texts as a tuple, and many as `ArrowTexts`."""
    return ArrowTexts(as_arrow(texts)) if len(texts) > MANY else tuple(texts)


def texts_at(texts: Sequence[str], places: np.ndarray) -> np.ndarray:
    """Return the texts at some places: objects, shape ``(n,)``.

    :param places: int64, shape ``(n,)``, each ≥ 0
    """
    if isinstance(texts, ArrowTexts):
        found: np.ndarray = texts.texts.take(pa.array(places)).to_numpy(zero_copy_only=False)
        return found
    return np.array(texts, dtype=object)[places]
