"""Files that are made at a click: few at once, and of what there is room for."""

import threading
from functools import partial

import pytest

from kgdash.errors import KgdashError
from kgdash.files.visitor import Visitor, visitor, working_for
from kgdash.ui.runtime import page_turns
from kgdash.ui.widgets import downloads
from kgdash.ui.widgets.downloads import FILES_AT_ONCE, made_later

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
    with pytest.raises(KgdashError, match="files are made for you, 3 at once"):
        quick()
    with working_for(Visitor(folder="bob")):
        assert made_later(lambda: b"his")() == b"his"
    end.set()
    for thread in drawing:
        thread.join(PATIENCE)
    assert made == [b"drawn"] * FILES_AT_ONCE
    assert quick() == b"quick"


def test_files_that_are_made_one_by_one_wait_for_ones_own_alone():
    """One browser draws for all: three drawings of one visitor stood before another's."""
    begun, end, made = threading.Event(), threading.Event(), []

    def drawing() -> bytes:
        begun.set()
        end.wait(PATIENCE)
        return b"drawn"

    with working_for(Visitor(folder="ada")):
        slow, again = (
            made_later(make, one_by_one="drawings") for make in (drawing, lambda: b"again")
        )
        other = made_later(lambda: b"other")
    threads = [
        threading.Thread(target=lambda make=make: made.append(make()), daemon=True)
        for make in (slow, again)
    ]
    threads[0].start()
    assert begun.wait(PATIENCE)
    threads[1].start()
    with working_for(Visitor(folder="bob")):
        assert made_later(lambda: b"his", one_by_one="drawings")() == b"his"
    assert other() == b"other"
    threads[1].join(0.2)
    assert made == []
    end.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert made == [b"drawn", b"again"]


def test_it_is_made_for_whom_it_was_offered():
    """Streamlit makes it in a thread of no session: a visitor's own labels were nobody's."""
    with working_for(Visitor(folder="ada")):
        make = made_later(lambda: str(visitor().folder))
    with working_for(Visitor(folder=None)):
        assert make() == "ada"


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
    monkeypatch.setattr(downloads, "_offers", downloads._Offers())  # others' are other tests'
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
