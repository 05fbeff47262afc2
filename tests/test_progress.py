"""How long things take, in words."""

import pytest

from kgdash.progress import duration_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "1 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "120 min"),
        (7200, "2.0 h"),
        (48 * 3600 - 1, "48.0 h"),
        (48 * 3600, "2 days"),
        (1e9, "11,574 days"),
    ],
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text
