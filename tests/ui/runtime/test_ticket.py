"""What was used lately counts, and less and less."""

import pytest

from kgdash.ui.runtime.ticket import RecentUse


def test_use_counts_for_half_after_half_a_minute_and_is_forgotten():
    now = [100.0]
    used = RecentUse(lambda: now[0])
    assert used.of("ada") == 0
    used.add("ada", 8)
    used.add("bob", 1)
    now[0] += 30
    assert used.of("ada") == pytest.approx(4)
    used.add("ada", 2)
    assert used.of("ada") == pytest.approx(6)
    now[0] += 300
    assert used.of("ada") == pytest.approx(6 / 1024)
    used.add("eve", 1)
    assert set(used._used) == {"eve"}
