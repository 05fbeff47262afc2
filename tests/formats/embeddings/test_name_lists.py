"""Lists of names, and rows found by them."""

import tracemalloc

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.formats.embeddings import name_lists, numbered_names
from kgdash.formats.embeddings.json_values import read_name_list
from kgdash.formats.embeddings.name_lists import check_length, read_names, rows_of
from kgdash.formats.embeddings.numbered_names import read_numbered

ROWS = np.zeros((3, 2))


def test_names_are_lines(tmp_path):
    (tmp_path / "e.txt").write_bytes("b\r\n a c \nÄ\n".encode())
    assert read_names(tmp_path / "e.txt", ROWS, "e.npy") == ("b", "a c", "Ä")


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
        read_names(tmp_path / "e.txt", ROWS, "e.npy")


@pytest.mark.parametrize("values", [ROWS, np.zeros(())])
def test_a_list_longer_than_its_matrix_is_not_read_on(tmp_path, values):
    rows = values.size // 2
    (tmp_path / "e.txt").write_text("".join(f"{n}\n" for n in range(rows + 1)) + "\n0\n")
    with pytest.raises(KgdashError, match=rf"e.txt has {rows + 3} names, e.npy {rows} rows;"):
        read_names(tmp_path / "e.txt", values, "e.npy")


def test_a_name_again_and_again_takes_no_memory(tmp_path, monkeypatch):
    content = b"0\taa\n" * 500_000
    monkeypatch.setattr(name_lists, "read_content", lambda *_: content)
    monkeypatch.setattr(numbered_names, "read_content", lambda *_: content)
    tracemalloc.start()
    with pytest.raises(KgdashError, match="line 2"):
        read_names(tmp_path / "e.txt", ROWS, "e.npy")
    with pytest.raises(KgdashError, match="each once"):
        read_numbered(tmp_path / "e.tsv")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * len(content)  # the text, and a copy of it


def write(path, content: bytes):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("text", ["1\t0\n0\t1\n", "0\t1\n1\t0\n", "7\t0\n0\t1\n", "0 7\n1 0\n"])
def test_names_that_are_numbers(text, tmp_path):
    """Of two columns of numbers, the first that counts from 0 is meant."""
    rows = [line.split() for line in text.splitlines()]
    first = sorted(a for a, _ in rows) == ["0", "1"]
    wanted = {int(a): b for a, b in rows} if first else {int(b): a for a, b in rows}
    path = write(tmp_path / "e.tsv", text.encode())
    assert read_numbered(path) == (wanted[0], wanted[1])


def test_openke_has_the_number_last(tmp_path):
    """Names that are numbers, too, were taken for them: MRR 0.069 in place of 0.662."""
    path = write(tmp_path / "entity2id.txt", b"3\n2\t0\n0\t1\n1\t2\n")
    assert read_numbered(path, openke=True) == ("2", "0", "1")
    assert read_numbered(write(path, b"0\ta\n1\tb\n"), openke=True) == ("a", "b")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "e.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(KgdashError, match=r"byte 0xff .*e.txt, line 2"):
        read_names(tmp_path / "e.txt", ROWS, "e.npy")


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


@pytest.mark.parametrize("line", ["\t" * 2**20, " a" * 2**19])
def test_cells_of_a_long_line_are_not_made(line, tmp_path):
    (tmp_path / "e.tsv").write_text(f"0\ta\n{line}\n")
    with pytest.raises(KgdashError, match=r"less than 1,048,576 characters .*e.tsv, line 2\)"):
        read_numbered(tmp_path / "e.tsv")


def test_a_list_of_other_than_names_is_not_made(tmp_path):
    (tmp_path / "names.json").write_text("[" + "[]," * 2**19 + "[]]")
    with pytest.raises(KgdashError, match="more than 262,144 objects, lists or numbers"):
        read_name_list(tmp_path / "names.json")
