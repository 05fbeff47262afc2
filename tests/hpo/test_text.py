"""What is typed of a search becomes the values that it means."""

import pytest

from kgdash.errors import KgdashError
from kgdash.hpo.text import parse_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("32", 32),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("true", True),
        ("relu", "relu"),
        ("16, 32", [16, 32]),
        ("0.001:0.1", {"low": 0.001, "high": 0.1}),
        ("0.001:0.1:log", {"low": 0.001, "high": 0.1, "log": True}),
        ("16:64:16", {"low": 16, "high": 64, "step": 16}),
    ],
)
def test_values(text, values):
    assert parse_values(text) == values


@pytest.mark.parametrize("text", ["a:b", "1:2:lin", "1:2:3:4", ":", "1:", "1:true"])
def test_no_ranges(text):
    with pytest.raises(KgdashError, match="expected LOW:HIGH"):
        parse_values(text)
