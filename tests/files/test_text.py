"""Text that people hand in."""

import csv
import gzip
import io
import os
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdash.errors import KgdashError
from kgdash.files import text
from kgdash.files.text import parse_json, parse_plain_json, read_content, table_rows, text_lines


def test_json_as_it_is():
    assert parse_json(b'{"a": [1, "\xc3\xa9"]}') == {"a": [1, "é"]}
    assert parse_json('"\\ud83d\\ude00"') == "😀"
    assert parse_json('"\\\\ud83d"') == "\\ud83d"


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"x":[{"a":1,"b":2,"\\u0061":1}]}'])
def test_a_key_that_stands_twice_is_refused(text):
    """Of two Python takes the last, and other libraries may take the first."""
    with pytest.raises(ValueError, match="key 'a' stands twice"):
        parse_json(text)
    assert parse_json('{"a":{"a":1},"A":[{"a":1},{"a":1}]}')["A"] == [{"a": 1}] * 2


@pytest.mark.parametrize(
    "text", ['"\\ud83d"', '{"\\uDE00": 1}', '["\\ude00\\ud83d"]', b'"\xed\xa0\xbd"']
)
def test_half_of_a_character_is_refused(text):
    with pytest.raises(ValueError, match=r"half of a character|invalid continuation byte"):
        parse_json(text)


@given(st.text("a\r\n\t\u2028", max_size=20))
def test_lines_are_those_of_split(lines):
    assert list(text_lines(lines, "f")) == [*enumerate(lines.split("\n"), 1)]


def test_short_lines_are_not_all_held_at_once():
    text = "a\tb\n" * 10**5
    tracemalloc.start()
    rows = table_rows(text, "f")
    next(rows)
    assert tracemalloc.get_traced_memory()[1] < 3 * len(text)
    tracemalloc.stop()
    assert 1 + sum(1 for _ in rows) == 10**5


def test_a_small_file_that_unpacks_to_a_large_one():
    packed = gzip.compress(b"ab\n" * 2 * 10**6)
    with pytest.raises(KgdashError, match="f unpacks to more than 100 times its size"):
        read_content(packed, "f", 2**26)
    with pytest.raises(KgdashError, match="f holds more than 3 MiB"):
        read_content(packed, "f", 3 * 2**20)
    with pytest.raises(KgdashError, match="f holds more than 256 KiB"):
        read_content(bytes(2**18 + 1), "f", 2**18)
    assert len(read_content(gzip.compress(b"ab\n" * 10**6), "f", 2**26)) == 3 * 10**6


def test_no_more_room_is_asked_for_than_a_file_needs(tmp_path, monkeypatch):
    """Python reserves whatever it is asked to read."""
    asked = []

    class Stream(io.FileIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    monkeypatch.setattr(text, "open_regular", Stream)
    (tmp_path / "f").write_bytes(b"abc")
    assert read_content(tmp_path / "f", "f", 2**40) == b"abc"
    assert asked == [4]
    with pytest.raises(KgdashError, match="f holds more than 0 KiB"):
        read_content(tmp_path / "f", "f", 2)


@pytest.mark.parametrize("text", ["ab," * 2**19, "a\tb\n" + "ab\t" * 2**19, 'a,"' + "b,\n" * 2**19])
def test_a_row_is_refused_before_it_fills_the_memory(text):
    with pytest.raises(
        KgdashError, match=r"(rows of less than 1,048,576|field larger) .*\(f, line"
    ):
        list(table_rows(text, "f"))


def test_brackets_in_texts_are_no_lists():
    content = rb'{"a[{": ["[[[[\"[[", "\\"], "b": "]{"}'
    assert parse_plain_json(content, parts=3) == {"a[{": ['[[[["[[', "\\"], "b": "]{"}
    with pytest.raises(ValueError, match="more than 3 objects, lists or numbers"):
        parse_plain_json(content.replace(b"]{", b'{", "c": [[]], "d": "'), parts=3)


@pytest.mark.parametrize("text", ['"' + "a" * 60, '"' + '\\"' * 2**20])
def test_a_text_without_an_end_is_read_once(text):
    began = time.process_time()
    with pytest.raises(ValueError, match="objects, lists or numbers"):
        parse_plain_json(("[" * 400_000 + text).encode())
    assert time.process_time() - began < 2


def test_commas_in_texts_part_no_numbers():
    content = rb'{"a,,,,": ["\"", ",,,,", 1, 2, 3], "b,,,,": "\\"}'
    assert parse_plain_json(content, 3)["b,,,,"] == "\\"
    with pytest.raises(ValueError, match="more than 3 objects, lists or numbers"):
        parse_plain_json(content.replace(b"3]", b"3, 4, 5, 6, 7]"), 3)


def test_a_packed_text_of_wide_characters_counts_what_it_takes():
    content = b"ab\n" * 10**6 + os.urandom(30_000).hex().encode()
    assert len(content) < 100 * len(gzip.compress(content))
    assert len(read_content(gzip.compress(content), "f", 2**26)) == len(content)
    for wide in "\u0100\U0001f600":
        packed = gzip.compress(content + wide.encode())
        with pytest.raises(KgdashError, match="f unpacks to more than 100 times its size"):
            read_content(packed, "f", 2**26)


@pytest.mark.parametrize("head", ["a\tb\n", "a,b\n"])
def test_a_table_is_not_copied_to_be_looked_at(head):
    text = "\n" + head + "\U0001f600" + head[1] + "b\n" + ("x" * 999 + "\n") * 10**4
    tracemalloc.start()
    rows = table_rows(text, "f")
    assert [next(rows) for _ in range(2)] == [(2, ["a", "b"]), (3, ["😀", "b"])]
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@given(st.text('a,"\r\n\u2028\x85 ', max_size=20))
def test_rows_of_csv_are_those_of_its_lines(text):
    def rows(lines):
        try:
            read = csv.reader(lines, strict=True, skipinitialspace=True)
            return [row for row in read if any(c.strip() for c in row)]
        except csv.Error:
            return None

    try:
        found = [row for _, row in table_rows(text, "f")]
    except KgdashError:
        found = None
    wanted = rows(io.StringIO(text, newline=""))
    assert found == (wanted and [[cell.strip() for cell in row] for row in wanted])


def test_cells_of_a_long_line_are_not_made():
    with pytest.raises(KgdashError, match=r"less than 1,048,576 characters \(f, line 2\)"):
        list(text_lines("a\n" + "\t" * 2**20 + "\na", "f"))
