"""Triples read in blocks are those read line by line, whatever the text; so are the refusals."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.graph import triple_columns
from kgdash.graph.triple_columns import (
    columns_of,
    count_distinct,
    distinct_names,
    labels_of,
    numbered,
    read_columns,
    read_label_columns,
)
from kgdash.graph.triple_files import read_labels, read_triples

CHARACTERS = st.sampled_from('ab\t\t\t\n\n\r "\\,\ufeff\x00\x1c\u00a0\u2028éNA')
PLAIN = st.lists(st.tuples(*[st.sampled_from(["a", "b", "NA", '"', "é", "head"])] * 3), min_size=1)


def outcome(read, path):
    try:
        return read(path)
    except KgdashError as error:
        return str(error)


def rows_of(table) -> list:
    return [tuple(row.values()) for row in table.to_pylist()]


@given(st.text(CHARACTERS, max_size=40))
@example("head\trelation\ttail\na\tb\tc")
@example("a\tb\tc\r\n\r\nd\te\tf\r")
@example("a\tb\t \n")
@example("")
def test_any_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("x") / "train.tsv"
    path.write_bytes(text.encode())
    expected, found = outcome(read_triples, path), outcome(read_columns, path)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert rows_of(found) == [tuple(row) for row in expected]


@given(PLAIN)
def test_plain_files_are_read_in_blocks(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("x") / "train.txt"
    path.write_text("head\trelation\ttail\n" + "".join("\t".join(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(triple_columns, "read_triples", lambda path: pytest.fail("line by line"))
        table = read_columns(path)
    assert rows_of(table) == rows == [tuple(row) for row in read_triples(path)]
    assert count_distinct(table) == len(set(rows))
    ends = distinct_names(table, ("head", "tail"))
    assert [*ends] == sorted({row[i] for row in rows for i in (0, 2)})
    some, relations = ends[1:], distinct_names(table, ("relation",))
    known = [{name: i for i, name in enumerate(names)} for names in (some, relations, some)]
    expected = [[of.get(name, -1) for of, name in zip(known, row, strict=True)] for row in rows]
    assert numbered(table, some, relations).tolist() == expected


@pytest.mark.parametrize("text", ["a\tb\n", "a\tb\tc\td\n", "a\t\tc\n", "a\tb\t" + "c" * 2**20])
def test_what_is_wrong_is_named_with_its_line(tmp_path, text):
    path = tmp_path / "train.tsv"
    path.write_text("x\ty\tz\n" * 3 + text)
    with pytest.raises(KgdashError, match="line 4"):
        read_columns(path)


def test_no_triples():
    none = columns_of(np.empty((0, 3), dtype=object))
    assert numbered(none, ["a"], ["r"]).shape == (0, 3)
    assert distinct_names(none, ("head", "tail")) == ()


@given(st.text(CHARACTERS, max_size=40), st.lists(st.text("ab", max_size=2), unique=True))
@example("a\t\nb\t c\na\td", ["b", "a"])
@example("a\tx\nb\t\na\ty\n", ["a", "b", "c"])
@example("a\tx\nb\ty\na\t\n", ["a", "b", "c"])
def test_labels_are_those_read_line_by_line(tmp_path_factory, text, names):
    path = tmp_path_factory.mktemp("x") / "entity_labels.tsv"
    path.write_bytes(text.encode())
    expected, found = outcome(read_labels, path), outcome(read_label_columns, path)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert [*labels_of(names, found)] == [expected.get(name, name) for name in names]


def test_plain_labels_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(triple_columns, "read_labels", lambda path: pytest.fail("line by line"))
    path = tmp_path / "entity_labels.tsv"
    path.write_text("a\tx y\nb\t\n")
    assert [*labels_of(("b", "a"), read_label_columns(path))] == ["b", "x y"]
