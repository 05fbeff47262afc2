"""Files whose extensions name no format that is written."""

import pytest

from kgdash.errors import KgdashError
from kgdash.files.extensions import alternatives, check_extension


def test_other_extensions_are_refused(tmp_path):
    with pytest.raises(KgdashError, match=r"expected an output file in \.csv, \.tsv or \.parquet;"):
        check_extension(tmp_path / "table.xls")
    with pytest.raises(KgdashError, match=r"expected an output file in \.npz; found .*table.csv"):
        check_extension(tmp_path / "table.csv", (".npz",))
    check_extension(tmp_path / "table.tsv")


def test_formats_are_listed():
    assert [alternatives(known) for known in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a or b",
        "a, b or c",
    ]
