"""Files that were made at a click stay until they were fetched."""

import time
from pathlib import Path

from streamlit.runtime import runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorage, MediaFileStorageError

#: seconds within which files are fetched, and bytes that all of them may have
_KEPT, _MOST_TOGETHER = 60.0, 2**28


class MadeFiles(MediaFileManager):
    """Streamlit's files, of which those that were made at a click stay for a minute.

    No page refers to them, and Streamlit deletes them when two pages of anybody end: on a server,
    before a browser asks for them. The oldest go when all together are too many.
    """

    def __init__(self, storage: MediaFileStorage) -> None:
        super().__init__(storage)
        self._made: dict[str, tuple[float, int]] = {}

    def execute_deferred(self, file_id: str) -> str:
        """Make a file, and return its address."""
        while True:  # one that was there before may have gone just now
            address = super().execute_deferred(file_id)
            if self._note(Path(address).stem):
                return address

    def _note(self, name: str) -> bool:
        """Note that a file was made, if it is there."""
        with self._lock:
            try:
                file = self._storage.get_file(name)  # type: ignore[attr-defined]
            except MediaFileStorageError:
                return False
            self._made.pop(name, None)
            self._made[name] = time.monotonic(), len(file.content)
            while (
                len(self._made) > 1
                and sum(size for _, size in self._made.values()) > _MOST_TOGETHER
            ):
                self._made.pop(oldest := next(iter(self._made)))
                if oldest in super()._get_inactive_file_ids():
                    self._delete_file(oldest)
            return True

    def _get_inactive_file_ids(self) -> set[str]:
        since = time.monotonic() - _KEPT
        self._made = {name: kept for name, kept in self._made.items() if kept[0] > since}
        return super()._get_inactive_file_ids() - self._made.keys()


def keep_made_files() -> None:
    """Have the server that this process starts keep its files so."""
    runtime.MediaFileManager = MadeFiles  # type: ignore[misc]
