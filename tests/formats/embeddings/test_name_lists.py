"""Lists of names, and rows found by them."""

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.formats.embeddings.name_lists import check_length, read_names, rows_of


def test_names_are_lines(tmp_path):
    (tmp_path / "e.txt").write_bytes("b\r\n a c \nÄ\n".encode())
    assert read_names(tmp_path / "e.txt") == ("b", "a c", "Ä")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\na\n", r"e.txt, line 3: 'a' stands at 1 already"),
        ("a\n\nb\n", r"e.txt, line 2: expected a name; found a blank line"),
        ("", r"e.txt, line 1: expected a name; found"),
    ],
)
def test_lists_that_are_refused(content, message, tmp_path):
    (tmp_path / "e.txt").write_text(content)
    with pytest.raises(KgdashError, match=message):
        read_names(tmp_path / "e.txt")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "e.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(KgdashError, match=r"byte 0xff .*e.txt, line 2"):
        read_names(tmp_path / "e.txt")


def test_another_length():
    with pytest.raises(KgdashError, match=r"e\.txt has 1 names, e\.npy 2 rows"):
        check_length(["a"], 2, "e.txt", "e.npy")


def test_rows_by_name():
    rows, notes = rows_of("entities", ["c", "a", "b"], ["a", "b", "c"], "here", False)
    np.testing.assert_array_equal(rows, [1, 2, 0])
    assert notes == []


def test_names_that_do_not_match():
    with pytest.raises(KgdashError) as refused:
        rows_of("entities", ["a", "x"], ["a", "b", "c"], "here", False)
    message = str(refused.value)
    assert "2 entities of the dataset's training triples have no row ('b', 'c')" in message
    assert "1 entities have rows but are in none of the dataset's training triples ('x')" in message
    with pytest.raises(KgdashError, match="--drop-unknown leaves their rows out"):
        rows_of("entities", ["a", "x"], ["a"], "here", False)
    rows, notes = rows_of("entities", ["x", "a"], ["a"], "here", True)
    assert rows.tolist() == [1]
    assert "1 entities of the embedding were left out" in notes[0]
    with pytest.raises(KgdashError, match="have no row"):
        rows_of("entities", ["a"], ["a", "b"], "here", True)
