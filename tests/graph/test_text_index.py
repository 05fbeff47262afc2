"""Texts are found where they stand, by either index, and hardly take memory or time."""

from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph import text_index
from kgdash.graph.arrow_texts import ArrowTexts
from kgdash.graph.text_index import HashedTexts, TextTable, index_texts

TEXTS = st.lists(st.text(st.sampled_from("aAé\0"), max_size=2), max_size=12)


@pytest.mark.parametrize("kind", [TextTable, HashedTexts])
@given(TEXTS, st.text(st.sampled_from("aAé\0"), max_size=2))
def test_places(kind, texts, wanted):
    index = kind(ArrowTexts(pa.array(texts, pa.large_string())))
    expected = defaultdict(list)
    for place, text in enumerate(texts):
        expected[text].append(place)
    for text in (*texts, wanted):
        assert index.places(text) == expected[text]
    for text in texts:
        index.places(text).clear()  # what is given is the asker's own
        assert index.places(text)


def test_hashes_are_for_many(monkeypatch):
    texts = ArrowTexts(pa.array(["a", "b"], pa.large_string()))
    assert isinstance(index_texts(texts), TextTable)
    monkeypatch.setattr(text_index, "MANY", 1)
    assert isinstance(index_texts(texts), HashedTexts)
