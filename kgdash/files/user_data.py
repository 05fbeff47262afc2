"""Where a user's own things are kept."""

import os
from pathlib import Path

from platformdirs import user_data_path

from kgdash.errors import KgdashError
from kgdash.files.visitor import visitor

#: the folder, in that of the data, of what a server's visitors have of their own
VISITORS = "visitors"


def data_folder() -> Path:
    """Return the folder of a user's data: ``$KGDASH_DATA`` if set, else the user's data folder."""
    return Path(os.environ.get("KGDASH_DATA") or user_data_path("kgdash"))


def own_folder() -> Path:
    """Return the folder of what nobody but the visitor sees; at this machine, `data_folder`.

    :raises KgdashError: if nobody asks
    """
    folder = visitor().folder
    if folder is None:
        raise KgdashError("nobody is logged in here; log in first")
    return data_folder() / VISITORS / folder if folder else data_folder()
