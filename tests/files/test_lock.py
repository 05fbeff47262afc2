"""Where locks can not be had, work goes on without; nobody is said to hold one."""

from pathlib import Path

import pytest
from filelock import FileLock

from kgdash.errors import KgdashError
from kgdash.files import lock
from kgdash.files.lock import hold_lock, locks_awaited


def busy():
    raise AssertionError("said to be held")


@pytest.mark.parametrize("folder", ["/proc", "/dev/null", "/sys"])
def test_a_folder_in_which_no_lock_can_be_made(monkeypatch, folder):
    monkeypatch.setattr(lock, "_POLL", 0.001)
    with hold_lock(Path(folder) / "none.lock", busy) as held:
        assert not held


def test_one_that_is_held_is_waited_for(tmp_path):
    path = tmp_path / "a.lock"
    with hold_lock(path) as held:
        assert held
        with pytest.raises(AssertionError, match="said to be held"), hold_lock(path, busy):
            pass
        assert path.exists()
    assert not path.exists()


def test_only_a_lock_that_another_holds_is_awaited(tmp_path, monkeypatch):
    """Who took locks that nobody held seemed to wait by chance, and computed uncounted."""
    seen = []
    acquire = FileLock.acquire

    def watched(self, *arguments, **named):
        seen.append(locks_awaited())
        return acquire(self, *arguments, **named)

    monkeypatch.setattr(FileLock, "acquire", watched)
    path = tmp_path / "a.lock"

    def leave():
        seen.append(locks_awaited())
        raise KgdashError("enough")

    with hold_lock(path), pytest.raises(KgdashError), hold_lock(path, leave):
        pass
    assert seen == [0, 0, 1]
    assert locks_awaited() == 0
