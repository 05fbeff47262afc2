"""Where texts stand among thousands, or among millions."""

from typing import Protocol

import numpy as np
import pandas as pd

from kgdash.graph.arrow_texts import MANY, ArrowTexts, text_blocks


class TextIndex(Protocol):
    """Tells where texts stand."""

    def places(self, text: str) -> list[int]:
        """Return where a text stands, ascending."""


def index_texts(texts: ArrowTexts) -> TextIndex:
    """Index texts: in a fifth of a second a million."""
    return HashedTexts(texts) if len(texts) > MANY else TextTable(texts)


class TextTable:
    """Texts as keys: some 150 bytes each, found in a part of a microsecond."""

    def __init__(self, texts: ArrowTexts) -> None:
        """Take texts."""
        self._first, self._several = dict[str, int](), dict[str, list[int]]()
        for place, text in enumerate(texts):
            if (first := self._first.setdefault(text, place)) != place:
                self._several.setdefault(text, [first]).append(place)

    def places(self, text: str) -> list[int]:
        """Return where a text stands, ascending."""
        if text in self._several:
            return [*self._several[text]]
        return [self._first[text]] if text in self._first else []


class HashedTexts:
    """Texts by their hashes: eight bytes each, found in some ten microseconds."""

    def __init__(self, texts: ArrowTexts) -> None:
        """Hash texts; equal hashes are told apart by the texts themselves."""
        self._texts = texts
        parts = (_hashes(np.array(some, dtype=object)) for some in text_blocks(texts))
        hashes = np.concatenate([np.empty(0, np.uint32), *parts])
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes = hashes[self._order]

    def places(self, text: str) -> list[int]:
        """Return where a text stands, ascending."""
        wanted = _hashes(np.array([text], dtype=object))
        first, end = (np.searchsorted(self._hashes, wanted, side)[0] for side in ("left", "right"))
        return [place for place in self._order[first:end].tolist() if self._texts[place] == text]


def _hashes(texts: np.ndarray) -> np.ndarray:
    """Hash texts, objects of shape ``(n,)``: uint32, ``(n,)``."""
    return pd.util.hash_array(texts, categorize=False).astype(np.uint32)
