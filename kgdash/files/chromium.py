"""The Chromium that draws figures: which one, and how it is started so that it stays to itself."""

import os
import shutil
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError

_NO_BROWSER = (
    "SVG, PNG and PDF are drawn by a Chromium, and none was found: install Debian's package "
    "chromium (or Chrome), or set KGDASH_CHROMIUM to its path; .html needs none"
)

#: by itself it asks its maker for updates and experiments, and looks up where searches go
_SILENT = ("--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND")


def find_browser() -> str | None:
    """Return the Chromium that draws figures: ``$KGDASH_CHROMIUM``, or one that is installed.

    What lies in the folder where kgdash is called counts only if it is named.
    """
    from choreographer.browsers.chromium import Chromium

    if given := os.environ.get("KGDASH_CHROMIUM"):
        return os.path.abspath(shutil.which(given) or given)
    found = shutil.which("chromium")
    if not found or not os.path.isabs(found):
        found = Chromium.find_browser(skip_local=False)
    return found if found and os.path.isabs(found) else None


def browser_path() -> str:
    """Return the path of the Chromium that draws figures.

    :raises KgdashError: if there is none, telling how to come by one
    """
    found = find_browser()
    if found is None:
        raise KgdashError(_NO_BROWSER)
    if not Path(found).is_file():
        raise KgdashError(f"there is no Chromium at {found} (KGDASH_CHROMIUM): set it to its path")
    return found


@cache
def browser_that_stays_here() -> type:
    """Return what starts a Chromium that asks no other machine for anything.

    It starts in an empty folder of its own, which goes with its profile: by relative paths its
    libraries look for settings, which name code.
    """
    from choreographer.browsers.chromium import Chromium

    class Apart(Chromium):
        def get_popen_args(self) -> Mapping[str, Any]:
            folder = self.tmp_dir.path / "empty"
            folder.mkdir()
            return {**super().get_popen_args(), "cwd": folder}

        def get_cli(self) -> Sequence[str]:
            return [*super().get_cli(), *_SILENT]

        def get_env(self) -> MutableMapping[str, str]:
            # Of several folders the loader of Vulkan takes all but the first for relative ones.
            no_code = {"XDG_DATA_DIRS": "/usr/share", "VK_LOADER_LAYERS_DISABLE": "~all~"}
            return {**super().get_env(), **no_code}

    return Apart
