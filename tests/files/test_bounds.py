"""How much of a file that a visitor hands in is read."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from kgdash.errors import KgdashError
from kgdash.files import bounds
from kgdash.files.bounds import bounded, check_count, check_labels, check_listed, check_room
from kgdash.files.text import table_rows
from kgdash.files.visitor import NOBODY, working_for
from kgdash.graph.triple_files import read_rows


def test_at_this_machine_there_is_no_bound():
    rows = iter([(1, ["x" * 10_000])])
    assert bounded(rows, "f") is rows
    check_count(10**9, "f")
    check_labels(["x" * 10**6], "f")


def test_rows_and_names_of_visitors(as_visitor):
    as_visitor(most_rows=2, longest_label=3)
    assert list(table_rows("a\tb\n\nc\tddd\n", "f")) == [(1, ["a", "b"]), (3, ["c", "ddd"])]
    with pytest.raises(KgdashError, match=r"f\.tsv holds more than 2 rows"):
        list(table_rows("a\tb\nc\td\ne\tf\n", "f.tsv"))
    with pytest.raises(KgdashError, match=r"at most 3 characters; found 4 \(f.tsv, line 2\)"):
        list(table_rows("a\tb\nc\tdddd\n", "f.tsv"))
    with pytest.raises(KgdashError, match="f holds more than 2 lines"):
        check_count(3, "f", "lines")
    with pytest.raises(KgdashError, match=r"found 4 \(f\)"):
        check_labels(iter(["a", "dddd"]), "f")


def test_whose_log_in_has_ended_reads_so():
    with working_for(NOBODY), pytest.raises(KgdashError, match="has ended: log in again, and hand"):
        check_count(1, "run.zip", "triples")


def test_names_of_visitors_that_pages_list(as_visitor, monkeypatch):
    monkeypatch.setattr(bounds, "_LETTERS", 5)
    monkeypatch.setattr(bounds, "_LISTED", 2)
    check_listed(["abc", "def"], "f", "types")
    as_visitor(folder="ada")
    check_listed(["abc", "de"], "f", "types")
    for names, found in ((["abc", "def"], "2 of 6"), (["a", "b", "c"], "3 of 3")):
        told = f"names of types in f, which pages list, are {found} characters together"
        with pytest.raises(KgdashError, match=told):
            check_listed(names, "f", "types")


def test_only_what_is_handed_in_is_bounded(as_visitor, tmp_path):
    as_visitor(most_rows=1, roots=(tmp_path,))
    path = tmp_path / "train.tsv"
    path.write_text("a\tr\tb\nb\tr\tc\n")
    assert len(list(read_rows(path))) == 2
    with pytest.raises(KgdashError, match=r"train\.tsv holds more than 1 rows"):
        list(read_rows(path.relative_to(tmp_path), path.read_bytes()))


def test_runs_of_visitors_leave_room_on_the_disk(as_visitor, tmp_path, monkeypatch):
    asked = []

    def usage(folder):
        asked.append(folder)
        return SimpleNamespace(free=2**31 - 1)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    check_room(tmp_path / "runs")
    as_visitor(folder="ada")
    with pytest.raises(KgdashError, match="disk is nearly full"):
        check_room(tmp_path / "runs" / "new")
    assert asked == [tmp_path]


def test_names_of_wide_characters_count_by_their_bytes(as_visitor, monkeypatch):
    """Of four bytes each, a run of 0.6 MB took the server eight gigabytes."""
    triples, relations = np.array([[0, 0, 1], [1, 0, 1]]), ["r"]
    as_visitor(folder="ada")
    monkeypatch.setattr(bounds, "_WRITTEN_OUT", 6)
    bounds.check_written_out(triples, ["a", "b"], relations, "x.zip")
    with pytest.raises(KgdashError, match=r"in x\.zip, written out, have 9 bytes; expected at"):
        bounds.check_written_out(triples, ["😀", "b"], relations, "x.zip")


def test_texts_are_written_once_and_a_visitors_until_they_are_too_long(as_visitor, monkeypatch):
    monkeypatch.setattr(bounds, "_HELD", 9)
    made = []

    def named(number):
        made.append(number)
        return "é" * number

    as_visitor(folder="ada")
    write = bounds.written_once(named, "the names")
    assert [write(1), write(1), write(1)] == ["é"] * 3
    with pytest.raises(KgdashError, match=r"the names, written out, have 12 bytes.* at most 9"):
        write(2)
    assert made == [1, 2]
    as_visitor()
    assert bounds.written_once(named, "the names")(20) == "é" * 20
