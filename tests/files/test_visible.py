"""What a terminal or a browser would obey is written, all else is left."""

import pytest

from kgdash.files.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("naïve\t1\n", "naïve\t1\n"),
        ("\r10 %", "\r10 %"),
        ("a\x1b]0;title\x07", r"a\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("abc\u202ecba", r"abc\u202ecba"),
        ("a\u200f\u200e\u061c1", r"a\u200f\u200e\u061c1"),
        ("a\u2028B\t9.9\u2029", r"a\u2028B" "\t" r"9.9\u2029"),
        ("日本", "日本"),
        ("تهران می\u200cخواهم ירושלים", "تهران می\u200cخواهم ירושלים"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown
