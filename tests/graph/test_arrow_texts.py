"""Mapped texts are what a tuple of them is."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.graph import arrow_texts
from kgdash.graph.arrow_texts import ArrowTexts, texts_at

TEXTS = st.lists(st.text(max_size=3), max_size=7).map(tuple)


def mapped(texts):
    return ArrowTexts(pa.array(texts, pa.large_string()))


@given(TEXTS, st.slices(7), st.text(max_size=3))
def test_they_are_a_tuple(texts, part, other):
    found = mapped(texts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arrow_texts, "_BLOCK", 2)
        assert [*found] == [*texts]
    assert len(found) == len(texts)
    assert bool(found) == bool(texts)
    assert found[part] == texts[part]
    assert [found[np.int64(i)] for i in range(-len(texts), len(texts))] == [*texts, *texts]
    assert (other in found) == (other in texts)
    assert found == texts
    assert texts == found
    assert found == mapped(texts)
    assert found != (*texts, other)
    assert (other, *texts) != found
    assert found != mapped((*texts, other))
    assert found != list(texts)
    assert np.array(found, dtype=object).tolist() == [*texts]


@given(TEXTS.filter(len), st.data())
def test_some_of_them(texts, data):
    places = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1))), dtype=np.int64)
    expected = [texts[i] for i in places]
    for each in (texts, mapped(texts)):
        found = texts_at(each, places)
        assert found.dtype == object
        assert found.tolist() == expected


def test_a_place_that_is_not_there():
    with pytest.raises(IndexError):
        mapped(("a",))[1]
