"""Tables that people asked for, as files."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from kgdash.errors import KgdashError
from kgdash.files.table import (
    csv_bytes,
    for_spreadsheets,
    parquet_bytes,
    safe_csv,
    to_csv,
    write_table,
    write_tables,
)

TABLE = pd.DataFrame(
    {"=HYPERLINK(1)": ["@a", "+b", "-c", "=d", "\te", "\rf", "g=", ""], "value": np.arange(-4.0, 4)}
)


def test_formulas_become_texts():
    safe = for_spreadsheets(TABLE)
    assert safe.columns.tolist() == ["'=HYPERLINK(1)", "value"]
    assert safe.iloc[:, 0].tolist() == ["'@a", "'+b", "'-c", "'=d", "'\te", "'\rf", "g=", ""]
    assert safe["value"].tolist() == TABLE["value"].tolist()
    wide = pd.DataFrame({"of": ["\n=a", "\uff1da", "\uff0ba", "\uff0da", "\uff20a"]})
    assert all(text.startswith("'") for text in for_spreadsheets(wide)["of"])
    odd = pd.DataFrame({"mixed": [1, "=x", None]}, index=["-a", "b", "c"])
    assert for_spreadsheets(odd).to_csv() == ",mixed\n'-a,1\nb,'=x\nc,\n"
    assert for_spreadsheets(odd.iloc[:0]).empty
    categories = pd.DataFrame({"of": pd.Categorical(["=a", "b"])})
    assert for_spreadsheets(categories)["of"].tolist() == ["'=a", "b"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("x;=1+1;y", "x;'=1+1;y"),
        ('x;"=1+1"', 'x;"\'=1+1"'),
        ("x\n=1+1", "x\n'=1+1"),
        ("x\t@a", "x\t'@a"),
        ("=a;=b", "'=a;'=b"),
        ("\t=a", "'\t'=a"),
        ("a; b - c, -d=e", "a; b - c, -d=e"),
    ],
)
def test_nor_is_what_stands_where_other_spreadsheets_begin_a_cell(name, safe):
    """With a decimal comma, semicolons separate, and quotes amid a text are none."""
    assert for_spreadsheets(pd.DataFrame({"of": [name]}))["of"].tolist() == [safe]


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet"])
def test_it_is_only_done_on_request_and_never_to_parquet(tmp_path, extension):
    def written(safe: bool) -> bytes:
        out = tmp_path / f"table{extension}"
        with safe_csv(safe):
            write_table(TABLE, out)
        return out.read_bytes()

    assert (written(False) == written(True)) == (extension == ".parquet")
    assert (b"'@a" in written(True)) == (extension != ".parquet")
    assert b"'@a" not in written(False)


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("safe", [True, False])
def test_parts_make_the_file_that_the_whole_makes(tmp_path, extension, safe):
    whole, parts = (tmp_path / f"{name}{extension}" for name in ("whole", "parts"))
    with safe_csv(safe):
        write_table(TABLE, whole)
        assert write_tables((TABLE[at : at + 3] for at in range(0, len(TABLE), 3)), parts) == 8
    if extension == ".parquet":
        pd.testing.assert_frame_equal(pd.read_parquet(parts), pd.read_parquet(whole))
    else:
        assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_nothing_stays_where_a_part_can_not_be_made(tmp_path, extension):
    def parts():
        yield TABLE
        raise KgdashError("no more")

    with pytest.raises(KgdashError, match="no more"):
        write_tables(parts(), tmp_path / f"out{extension}")
    assert not list(tmp_path.iterdir())


def test_carriage_returns_begin_no_row(tmp_path):
    """Outside of quotes, spreadsheets take one for the end of a row: what follows is a formula."""
    table = pd.DataFrame({"of": ["x\r=1+1", "b"], "value": [0.5, float("nan")], "n": [1, 2]})
    with safe_csv(True):
        write_table(table, tmp_path / "a.csv")
        write_tables([table, table], tmp_path / "b.tsv")
    for name, separator, count in (("a.csv", ",", 1), ("b.tsv", "\t", 2)):
        with (tmp_path / name).open(newline="") as stream:
            rows = [*csv.reader(stream, delimiter=separator)]
        assert rows == [["of", "value", "n"]] + [["x\r'=1+1", "0.5", "1"], ["b", "", "2"]] * count
    assert to_csv(table.iloc[1:], index=False) == "of,value,n\nb,,2\n"
    assert to_csv(table.set_index("of").iloc[:1]) == 'of,value,n\n"x\r=1+1",0.5,1\n'


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9])
def test_parts_of_rows_make_the_same_text(monkeypatch, rows):
    monkeypatch.setattr("kgdash.files.table._PART", 4)
    about = {"n": range(9), "name": ["=a", "b,\r", 'c"', None, "😀"] * 2}
    table = pd.DataFrame({"n": about["n"], "name": about["name"][:9], "x": 0.1}).head(rows)
    whole = to_csv(for_spreadsheets(table), index=False)
    assert csv_bytes(table, len(whole.encode())).decode() == whole
    with pytest.raises(KgdashError, match="has more than"):
        csv_bytes(table, len(whole.encode()) - 1)


def test_texts_of_a_parquet_file_are_counted_before_it_is_packed():
    long = pd.Series(["é" * 100] * 10, dtype=object)
    table = pd.DataFrame({"n": range(10), "of": long, "by": long.astype("str"), "x": [None] * 10})
    whole = parquet_bytes(table, 500)
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(whole))[["n"]], table[["n"]])
    with pytest.raises(KgdashError, match="has more than 499 bytes"):
        parquet_bytes(table, 499)
