"""Files that are made at a click: few at once, and there until they were fetched."""

import threading
from functools import partial
from pathlib import Path

import pytest
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from kgdash.errors import KgdashError
from kgdash.files.visitor import Visitor, working_for
from kgdash.ui.runtime import page_turns
from kgdash.ui.widgets import downloads
from kgdash.ui.widgets.downloads import FILES_AT_ONCE, MadeFiles, made_later

PATIENCE = 30


@pytest.fixture(autouse=True)
def _afresh():
    page_turns.turns_of.cache_clear()
    yield
    page_turns.turns_of.cache_clear()


def test_files_of_one_visitor_keep_no_threads_from_others():
    begun, end, made = threading.Semaphore(0), threading.Event(), []

    def file() -> bytes:
        begun.release()
        end.wait(PATIENCE)
        return b"drawn"

    with working_for(Visitor(folder="ada")):
        slow, quick = made_later(file), made_later(lambda: b"quick")
    drawing = [
        threading.Thread(target=lambda: made.append(slow()), daemon=True)
        for _ in range(FILES_AT_ONCE)
    ]
    for thread in drawing:
        thread.start()
        assert begun.acquire(timeout=PATIENCE)
    with pytest.raises(KgdashError, match="3 files are being made for you"):
        quick()
    with working_for(Visitor(folder="bob")):
        assert made_later(lambda: b"his")() == b"his"
    end.set()
    for thread in drawing:
        thread.join(PATIENCE)
    assert made == [b"drawn"] * FILES_AT_ONCE
    assert quick() == b"quick"


def test_a_file_that_fails_counts_no_more():
    def fails() -> bytes:
        raise ValueError("no browser")

    with working_for(Visitor(folder="ada")):
        make = made_later(fails)
    for _ in range(FILES_AT_ONCE + 1):
        with pytest.raises(ValueError, match="no browser"):
            make()


def test_what_tabs_offer_is_held_only_as_far_as_there_is_room(monkeypatch):
    """Eighty tabs of one account, closed long since, held 4.4 GB of tables for their downloads."""
    monkeypatch.setattr(downloads, "_OFFERED", 1_000_000)
    tables = [bytes([number]) * 300_000 for number in range(9)]

    def offered(who: str, table: bytes):
        with working_for(Visitor(folder=who)):
            return made_later(partial(bytes.upper, table))

    hers = offered("bob", b"a" * 200_000)
    mine = [offered("ada", table) for table in tables]
    assert hers() == b"A" * 200_000
    assert [make() for make in mine[-2:]] == tables[-2:]
    for make in mine[:-2]:
        with pytest.raises(KgdashError, match="open this page anew"):
            make()
    del hers, mine  # as Streamlit does with what a page offers no more
    again = [offered("ada", table) for table in tables[:3]]
    assert [make() for make in again] == tables[:3]
    with working_for(Visitor()):
        assert [make() for make in [made_later(partial(bytes, t)) for t in tables]] == tables


def test_files_that_would_fill_memory_are_a_visitors_not(monkeypatch):
    """Fourteen tabs of 112 MB each took the server 3.1 GB as long as they stood."""
    monkeypatch.setattr(downloads, "_MOST", 5)
    with working_for(Visitor(folder="ada")):
        assert made_later(lambda: b"12345")() == b"12345"
        with pytest.raises(KgdashError, match="has more than 5 bytes"):
            made_later(lambda: b"123456")()
    assert made_later(lambda: b"123456")() == b"123456"  # at one's own machine


class Server:
    """Files as a server keeps them, with one that is asked for again and again."""

    def __init__(self):
        self.files = MadeFiles(MemoryMediaFileStorage("/media"))

    def made(self, content: bytes) -> str:
        number = self.files.add_deferred(lambda: content, "text/csv", "0.1", "a.csv")
        return Path(self.files.execute_deferred(number)).stem

    def pages_end(self):
        for _ in range(3):
            self.files.clear_session_refs("dontcare")
            self.files.remove_orphaned_files()

    def has(self, name: str) -> bool:
        try:
            return bool(self.files._storage.get_file(name).content)
        except MediaFileStorageError:
            return False


def test_a_made_file_is_there_however_many_pages_end_for_a_minute(monkeypatch):
    """Seven of seven were gone when they were fetched, beside two tabs of others."""
    now = [1000.0]
    monkeypatch.setattr(downloads.time, "monotonic", lambda: now[0])
    server = Server()
    name = server.made(b"csv")
    now[0] += 59
    server.pages_end()
    assert server.has(name)
    assert server.made(b"csv") == name  # asked for again
    now[0] += 59
    server.pages_end()
    assert server.has(name)
    now[0] += 2
    server.pages_end()
    assert not server.has(name)


def test_made_files_are_so_much_together(monkeypatch):
    """Two accounts had 62 files of 32 MB, which nobody fetched, stay while others were away."""
    monkeypatch.setattr(downloads, "_MOST_TOGETHER", 25)
    server = Server()
    names = [server.made(b"%d" % number * 10) for number in range(4)]
    assert [server.has(name) for name in names] == [False, False, True, True]
    shown = server.files.add(b"0" * 10, "text/csv", "0.2", "a.csv", is_for_static_download=True)
    assert Path(shown).stem == names[0]
    server.made(b"0" * 10)
    server.made(b"4" * 10)
    server.made(b"5" * 10)
    assert server.has(names[0])  # a page shows it
    assert server.has(server.made(b"6" * 99))
