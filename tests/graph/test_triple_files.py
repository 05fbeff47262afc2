"""Text files of triples: what is read, and what is refused with file and line."""

import gzip
import os
from pathlib import Path

import pytest

from kgdash.errors import KgdashError
from kgdash.graph import triple_files
from kgdash.graph.triple_columns import read_columns
from kgdash.graph.triple_files import (
    read_graph_triples,
    read_labels,
    read_rows,
    read_triples,
)
from tests.support.fakes import make_graph

TSV = "Paris\tin\tFrance\nRome\tin\tItaly\n"
ROWS = [["Paris", "in", "France"], ["Rome", "in", "Italy"]]


def write(folder, name, text, encoding="utf-8"):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode(encoding)
    path.write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    return path


@pytest.mark.parametrize("ending", ["", ".gz", ".GZ"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.tsv", TSV),
        ("x.txt", TSV),
        ("x.csv", TSV.replace("\t", ",")),
        ("crlf.tsv", TSV.replace("\n", "\r\n")),
        ("crlf.csv", TSV.replace("\t", ",").replace("\n", "\r\n")),
        ("bom.tsv", "\ufeff" + TSV),
        ("bom.csv", "\ufeff" + TSV.replace("\t", ",")),
        ("blank.tsv", "\n\n" + TSV.replace("\n", "\n  \n\n")),
        ("blank.csv", "\n" + TSV.replace("\t", ",").replace("\n", "\n\n")),
        ("unfinished.tsv", TSV[:-1]),
        ("spaces.tsv", TSV.replace("\t", " \t ")),
        ("quoted.csv", '"' + TSV[:-1].replace("\t", '" , "').replace("\n", '"\n"') + '"'),
        ("header.tsv", "head\trelation\ttail\n" + TSV),
        ("header.csv", "Subject,Predicate,Object\n" + TSV.replace("\t", ",")),
        ("bomheader.tsv", "\ufeffh\tr\tt\n" + TSV),
        ("blankheader.tsv", "\n\nhead\trelation\ttail\n" + TSV),
        ("capitals.CSV", TSV.replace("\t", ",")),
    ],
)
def test_reads(tmp_path, name, text, ending):
    assert read_triples(write(tmp_path, name + ending, text)).tolist() == ROWS


@pytest.mark.parametrize("header", ["head tail relation", "source target relation", "T R H"])
def test_a_header_in_another_order_is_refused(header, tmp_path):
    """Its columns were read in our order, and its names were a triple."""
    path = tmp_path / "x.tsv"
    path.write_text(header.replace(" ", "\t") + "\n" + TSV)
    for read in (read_triples, read_columns):
        with pytest.raises(KgdashError, match=r"expected columns .*Put them in this order"):
            read(path)


def test_a_header_is_a_triple_further_down(tmp_path):
    path = write(tmp_path, "x.tsv", TSV + "head\trelation\ttail\n")
    assert read_triples(path).tolist() == [*ROWS, ["head", "relation", "tail"]]


def test_names_may_hold_almost_anything(tmp_path):
    names = ["a, b", 'say "hi"', "naïve\u2028name"]
    path = write(tmp_path, "x.tsv", "\t".join(names) + "\n")
    assert read_triples(path).tolist() == [names]
    quoted = write(tmp_path, "x.csv", '"a, b","say ""hi""",c\n')
    assert read_triples(quoted).tolist() == [["a, b", 'say "hi"', "c"]]


def test_a_name_that_occurs_often_is_kept_once(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("entity 1\trelation 1\tentity 2\n" * 3)
    assert len({id(name) for name in read_triples(path).ravel()}) == 3


def test_nothing_in_it(tmp_path):
    assert read_triples(write(tmp_path, "x.tsv", "")).shape == (0, 3)
    assert read_triples(write(tmp_path, "y.tsv.gz", "head\trelation\ttail\n")).shape == (0, 3)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("x.tsv", TSV + "Oslo in Norway\n", r"found 1: Oslo in Norway \(.*x.tsv, line 3\)"),
            ("x.tsv", "\n" + TSV + "Oslo\tin\n", r"found 2: Oslo, in \(.*x.tsv, line 4\)"),
            ("x.tsv", "a\tb\tc\td\n", r"found 4: a, b, c, d .*line 1\)"),
            ("x.tsv", TSV + "Oslo\t\tNorway\n", r"found an empty one \(.*x.tsv, line 3\)"),
            ("x.csv", TSV, r"columns head, relation, tail; found 1.*x.csv, line 1\)"),
            ("x.csv", '"a, b",in,c\n\nOslo,in\n', r"found 2: Oslo, in \(.*line 3\)"),
            ("x.tsv", TSV + "Køln\tin\tGermany\n", None),
        ],
    )
    def test_columns(self, tmp_path, name, text, message):
        path = write(tmp_path, name, text)
        if message is None:
            assert len(read_triples(path)) == 3
            return
        with pytest.raises(KgdashError, match=message):
            read_triples(path)

    @pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.tsv.gz"])
    def test_not_utf8_names_the_line(self, tmp_path, name):
        text = TSV.replace("\t", ",") if ".csv" in name else TSV
        path = write(tmp_path, name, (text * 2000).encode() + b"K\xf8ln\tin\tGermany\n")
        with pytest.raises(KgdashError, match=rf"{name} is not UTF-8 text \(line 4001\)"):
            read_triples(path)

    def test_utf16(self, tmp_path):
        with pytest.raises(KgdashError, match="not UTF-8"):
            read_triples(write(tmp_path, "x.tsv", TSV, encoding="utf-16"))

    def test_truncated_gzip(self, tmp_path):
        path = tmp_path / "x.tsv.gz"
        whole = gzip.compress((TSV * 500).encode())
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(KgdashError, match=r"x.tsv.gz is not a whole gzip file.*fetch it again"):
            read_triples(path)

    @pytest.mark.parametrize("damage", [b"not gzip at all", None])
    def test_no_gzip(self, tmp_path, damage):
        whole = bytearray(gzip.compress((TSV * 500).encode()))
        whole[20:60] = bytes(40)
        (tmp_path / "x.tsv.gz").write_bytes(damage or bytes(whole))
        with pytest.raises(KgdashError, match="not a whole gzip file"):
            read_triples(tmp_path / "x.tsv.gz")

    def test_missing(self, tmp_path):
        with pytest.raises(KgdashError, match=r"can not read .*x.tsv: No such file"):
            read_triples(tmp_path / "x.tsv")

    @pytest.mark.parametrize("name", ["x.tsv.gz", "x.csv"])
    def test_a_line_that_fills_the_memory(self, tmp_path, name):
        path = write(tmp_path, name, TSV.replace("\t", ",") + "x" * (2**20 + 5))
        with pytest.raises(KgdashError, match=r"less than 1,048,576 characters .*line 3\)"):
            list(read_rows(path))

    def test_too_much_text(self, tmp_path, monkeypatch):
        monkeypatch.setattr(triple_files, "MAX_BYTES", 1000)
        path = write(tmp_path, "x.tsv.gz", "a\tb\tc\n" * 200_000)
        with pytest.raises(KgdashError, match="more than 4 GiB of text"):
            read_triples(path)

    @pytest.mark.parametrize("line", ["aa\tbb\tcc\n", "\t".join(["a" * 300_000] * 3) + "\n"])
    def test_a_small_file_that_unpacks_to_a_large_one(self, tmp_path, line):
        path = write(tmp_path, "x.tsv.gz", line * (2**23 // len(line)))
        with pytest.raises(KgdashError, match="unpacks to more than 50 times its size"):
            read_triples(path)
        content = path.read_bytes()
        with pytest.raises(KgdashError, match="unpacks to more than 50 times its size"):
            read_triples(path, content)

    def test_bytes_that_are_no_text_and_have_no_end(self, tmp_path, monkeypatch):
        """The line of the first one is looked for without reading to the line's end."""
        monkeypatch.setattr(triple_files, "MAX_LINE", 1000)
        path = tmp_path / "x.tsv.gz"
        path.write_bytes(gzip.compress(b"a\tb\tc\n\n" + b"\xff" * 10**6))
        read = []
        monkeypatch.setattr(
            triple_files.gzip.GzipFile, "readline", reading(gzip.GzipFile.readline, read)
        )
        with pytest.raises(KgdashError, match=r"not UTF-8 text \(line 3\)"):
            read_triples(path)
        assert max(read) <= 1000

    def test_a_row_of_a_million_characters_over_many_lines(self, tmp_path):
        path = write(tmp_path, "x.csv", ("ab," * 50_000 + '"x\n",') * 10)
        with pytest.raises(KgdashError, match=r"rows of less than 1,048,576 .*x.csv, line 7\)"):
            read_triples(path)

    def test_a_quote_that_is_closed_lines_later(self, tmp_path):
        path = write(tmp_path, "x.csv", 'a,r,"b\nb,r,c\nc,s,a"\nd,r,e\n')
        with pytest.raises(KgdashError, match=r"over several lines, the last is 3 .*x.csv\)"):
            read_triples(path)

    def test_no_csv(self, tmp_path):
        path = write(tmp_path, "x.csv", '"' + "a,b\n" * 60_000)
        with pytest.raises(KgdashError, match=r"not valid CSV: field .*x.csv, line \d+\)"):
            read_triples(path)


def reading(readline, lengths):
    """Return a ``readline`` that notes how long what it returns is."""

    def noted(stream, size=-1):
        found = readline(stream, size)
        lengths.append(len(found))
        return found

    return noted


class TestLabels:
    def test_reads(self, tmp_path):
        path = write(tmp_path, "x.tsv", "Q90\tParis\n\nQ220\tRome, Italy\nQ1\t\n")
        assert read_labels(path) == {"Q90": "Paris", "Q220": "Rome, Italy", "Q1": "Q1"}

    def test_columns(self, tmp_path):
        path = write(tmp_path, "x.tsv", "Q90\tParis\nQ220\tRome\tcity\n")
        with pytest.raises(KgdashError, match=r"2 columns name, label; found 3 \(.*line 2\)"):
            read_labels(path)


class TestGraphTriples:
    graph = make_graph([(0, 0, 1), (1, 1, 2)])

    def test_names_and_labels_become_ids(self, tmp_path):
        path = write(tmp_path, "x.tsv", "e0\tr1\te2\nE1\tR0\te1\ne0\tr1\te2\n")
        assert read_graph_triples(path, self.graph).tolist() == [[0, 1, 2], [1, 0, 1], [0, 1, 2]]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("e0\tr1\te2\ne0\tr9\te1\n", r"unknown relation 'r9'.*x.tsv, triple 2\)"),
            ("", "holds no triples"),
            ("head\trelation\ttail\n", "holds no triples"),
            ("e0\tr1\n", "line 1"),
        ],
    )
    def test_refusals(self, tmp_path, text, message):
        with pytest.raises(KgdashError, match=message):
            read_graph_triples(write(tmp_path, "x.tsv", text), self.graph)

    def test_missing(self, tmp_path):
        with pytest.raises(KgdashError, match="no triples file"):
            read_graph_triples(tmp_path / "x.tsv", self.graph)


def test_a_wide_character_makes_its_line_wide():
    line = "\t".join("x" * 300 for _ in range(3))
    text = "".join(f"{os.urandom(12).hex()}{line}\n" for _ in range(6_000))
    content = gzip.compress(text.encode())
    assert 20 < len(text) / len(content) < 45
    assert len(read_triples(Path("x.tsv.gz"), content)) == 6_000
    wide = gzip.compress(text.replace("\n", "\U0001f600\n").encode())
    with pytest.raises(KgdashError, match="unpacks to more than 50 times its size"):
        read_triples(Path("x.tsv.gz"), wide)
