"""Names of files that people save."""

from __future__ import annotations

import re


def file_name(name: str, extension: str) -> str:
    """Return a name for a file that any system takes: labels may hold slashes, quotes and more.

    :param name: without an extension
    :param extension: with its dot
    """
    kept = re.sub(r"[^\w.+-]+", "-", name).strip("-.")[:120]
    return f"{kept or 'kgdash'}{extension}"
