"""Which of a server's visitors added a run: theirs are offered beside each other.

What a run records of itself anybody may have written; the server alone writes this.
"""

from pathlib import Path

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.files.visitor import Visitor, visitor, working_for

_FILE, _LONGEST = "owner", 256


def note_owner(run: Path) -> None:
    """Write into a run's folder which visitor adds it; nothing of who is at this machine."""
    if not visitor().is_local:
        (run / _FILE).write_text(visitor().owner, encoding="utf-8")


def owner_of(run: Path | None) -> str:
    """Return the folder of the visitor who added a run; "" of a run that none did, and of None."""
    if run is None:
        return ""
    try:
        # The server's own file, outside of all that visitors may open.
        with working_for(Visitor()), open_regular(run / _FILE) as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (OSError, ValueError, KgdashError):
        return ""
