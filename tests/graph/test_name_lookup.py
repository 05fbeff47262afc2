"""Names and labels are found the same, by tables or looked through; parts by what they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import name_lookup, text_index
from kgdash.graph.name_lookup import NameLookup

TEXTS = st.text(st.sampled_from("aAbßéİ ("), min_size=1, max_size=4)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6, unique_by=lambda pair: pair[0])


def found(lookup, text):
    try:
        return lookup.find(text)
    except KgdashError as error:
        # Of many, fewer are compared with what is not found.
        return str(error).split("; did you")[0].split("known")[0][:20]


@pytest.mark.parametrize("hashes", [None, lambda texts: np.zeros(len(texts), np.uint32)])
@given(PAIRS, TEXTS)
def test_looking_through_tables_and_hashes_agree(hashes, pairs, text):
    """Hashes that are all equal are told apart by the texts."""
    names, labels = zip(*pairs, strict=True)
    lookup = NameLookup(names, labels, "entity", "graph x")
    looked_through = found(lookup, text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(name_lookup, "_PATIENCE", 0)
        assert found(NameLookup(names, labels, "entity", "graph x"), text) == looked_through
        patched.setattr(text_index, "MANY", 0)
        if hashes:
            patched.setattr(text_index, "_hashes", hashes)
        assert found(NameLookup(names, labels, "entity", "graph x"), text) == looked_through
    exact = [i for i, name in enumerate(names) if name == text]
    by_label = [i for i, label in enumerate(labels) if label == text]
    folded = [
        i for i, p in enumerate(pairs) if text.casefold() in (p[0].casefold(), p[1].casefold())
    ]
    called = exact or by_label or folded
    assert lookup.called(text) == called
    assert lookup.own_name(text) == (names[called[0]] if len(called) == 1 else text)


@pytest.mark.parametrize(
    ("most", "looks"), [(name_lookup._MOST, 2), (float("inf"), 100), (float("inf"), 0)]
)
@given(PAIRS, TEXTS)
def test_holding(most, looks, pairs, text):
    names, labels = zip(*pairs, strict=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(name_lookup, "_BLOCK", 3)
        patched.setattr(name_lookup, "_MOST", most)
        patched.setattr(name_lookup, "_LOOKS", looks)
        ids, place = NameLookup(names, labels, "entity", "graph x").holding(text)
    wanted = text.casefold()
    expected = [i for i, p in enumerate(pairs) if any(wanted in part.casefold() for part in p)]
    assert ids.tolist() == expected
    for number, where in zip(ids, place, strict=True):
        label = labels[number].casefold()
        assert where == (0 if label == wanted else 1 if label.startswith(wanted) else 2)


def test_what_is_no_text_is_nobody_and_near_names_are_told_of_many(monkeypatch):
    lookup = NameLookup(("Berlin", "Bern"), ("Berlin", "Bern"), "entity", "graph x")
    assert lookup.called("\ud800") == []
    assert len(lookup.holding("\ud800")[0]) == 0
    monkeypatch.setattr(name_lookup, "MANY", 0)
    with pytest.raises(KgdashError, match=r"unknown entity 'Berlim' in graph x.*Berlin"):
        lookup.find("Berlim")


def test_labels_that_several_have_are_told_apart_by_their_names():
    lookup = NameLookup(("m1", "m2", "m3"), ("Paris", "Rome", "Paris"), "entity", "graph g")
    found = [lookup.distinct_label(number) for number in range(3)]
    assert found == ["Paris (m1)", "Rome", "Paris (m3)"]
    names = ("a", "b")
    assert NameLookup(names, names, "entity", "graph g").distinct_label(1) == "b"


TEXTS = st.sampled_from(["1", "2", "3", "a", "1 (2)", "a (1)", "(", " (", "x (1) (2)"])


@given(
    st.lists(
        st.tuples(TEXTS, TEXTS),
        min_size=1,
        unique_by=lambda pair: pair[0],
    )
)
def test_each_is_found_by_what_is_written_of_it(pairs):
    """As years have it, a label may be what another is named."""
    names, labels = map(tuple, zip(*pairs, strict=True))
    lookup = NameLookup(names, labels, "entity", "graph g")
    ids = np.arange(len(names))
    written = lookup.distinct_labels(ids)
    assert [lookup.exactly(text) for text in written] == [[number] for number in ids]
    assert [lookup.find(text) for text in written] == ids.tolist()


def test_a_file_of_names_is_not_looked_for_among_all_line_by_line(monkeypatch):
    looked, mask = [], name_lookup._mask
    monkeypatch.setattr(name_lookup, "_mask", lambda found: looked.append(1) or mask(found))
    names = tuple(f"m{n}" for n in range(5))
    lookup = NameLookup(names, tuple(f"Label {n}" for n in range(5)), "entity", "graph g")
    for text in ("m3", "Label 3", "label 3") * 200:
        assert lookup.find(text) == 3
    assert len(looked) <= name_lookup._PATIENCE
