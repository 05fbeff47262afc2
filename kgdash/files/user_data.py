"""Where a user's own things are kept."""

import os
from pathlib import Path

from platformdirs import user_data_path


def data_folder() -> Path:
    """Return the folder of a user's data: ``$KGDASH_DATA`` if set, else the user's data folder."""
    return Path(os.environ.get("KGDASH_DATA") or user_data_path("kgdash"))
