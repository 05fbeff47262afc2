"""Files that were made at a click are there until they were fetched."""

from pathlib import Path

from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from kgdash.ui.server import made_files
from kgdash.ui.server.made_files import MadeFiles


class Server:
    """Files as a server keeps them, with one that is asked for again and again."""

    def __init__(self):
        self.files = MadeFiles(MemoryMediaFileStorage("/media"))

    def made(self, content: bytes) -> str:
        number = self.files.add_deferred(lambda: content, "text/csv", "0.1", "a.csv")
        return Path(self.files.execute_deferred(number)).stem

    def pages_end(self):
        self.files.clear_session_refs("dontcare")
        self.others_end()

    def others_end(self):
        for _ in range(3):
            self.files.remove_orphaned_files()

    def has(self, name: str) -> bool:
        try:
            return bool(self.files._storage.get_file(name).content)
        except MediaFileStorageError:
            return False


def test_a_made_file_is_there_however_many_pages_end_for_a_minute(monkeypatch):
    """Seven of seven were gone when they were fetched, beside two tabs of others."""
    now = [1000.0]
    monkeypatch.setattr(made_files.time, "monotonic", lambda: now[0])
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


def test_a_file_that_goes_while_it_is_made_is_made_anew(monkeypatch):
    """One of 1,200 was gone: pages of others ended between its making and its note."""
    server, ends = Server(), [True, True]
    note = MadeFiles._note

    def once_pages_end(files: MadeFiles, name: str) -> bool:
        if ends:
            ends.pop()
            server.others_end()
        return note(files, name)

    monkeypatch.setattr(MadeFiles, "_note", once_pages_end)
    name = server.made(b"csv")
    assert not ends
    server.pages_end()
    assert server.has(name)


def test_made_files_are_so_much_together(monkeypatch):
    """Two accounts had 62 files of 32 MB, which nobody fetched, stay while others were away."""
    monkeypatch.setattr(made_files, "_MOST_TOGETHER", 25)
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
