"""How much memory a server keeps, and one's own machine."""

import os

from kgdash.ui.runtime import short_memory
from kgdash.ui.runtime.short_memory import is_short, most_memory


def test_it_is_short_where_people_log_in(monkeypatch):
    monkeypatch.setenv("KGDASH_MEMORY", "4G")
    assert most_memory("ada") == 3 * 2**30
    assert most_memory("") == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    monkeypatch.setattr(short_memory, "own_memory", lambda: 3 * 2**30)
    assert not is_short("ada")
    monkeypatch.setattr(short_memory, "own_memory", lambda: 2**60)
    assert is_short("ada")
    assert not is_short("")
