"""Text that people hand in."""

import pytest

from kgdash.files.text import parse_json


def test_json_as_it_is():
    assert parse_json(b'{"a": [1, "\xc3\xa9"]}') == {"a": [1, "é"]}
    assert parse_json('"\\ud83d\\ude00"') == "😀"
    assert parse_json('"\\\\ud83d"') == "\\ud83d"


@pytest.mark.parametrize(
    "text", ['"\\ud83d"', '{"\\uDE00": 1}', '["\\ude00\\ud83d"]', b'"\xed\xa0\xbd"']
)
def test_half_of_a_character_is_refused(text):
    with pytest.raises(ValueError, match=r"half of a character|invalid continuation byte"):
        parse_json(text)
