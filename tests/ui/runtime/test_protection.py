"""What strangers say at the provider's address is short, and commands no terminal, when logged."""

from urllib.parse import parse_qs, urlencode

import pytest

from kgdash.ui.runtime.protection import _printable


@pytest.mark.parametrize("name", ["error", "error_description"])
def test_reasons_of_errors_are_cut(name):
    query = urlencode({name: "a\x1b[31m" + "x" * 60_000, "state": "s", "code": "c" * 1_000})
    said = parse_qs(_printable({"query_string": query.encode()})["query_string"].decode())
    assert said == {name: ["a [31m" + "x" * 194], "state": ["s"], "code": ["c" * 1_000]}


def test_a_log_in_is_passed_on_as_it_is():
    scope = {"query_string": b"state=abc&code=d%2Fe"}
    assert _printable(scope) is scope
