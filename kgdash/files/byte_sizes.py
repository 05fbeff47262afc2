"""Amounts of memory as people write them."""

import math
import os
import re

from kgdash.errors import KgdashError

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)


def bytes_from_environment(name: str, default: str, least: int = 0) -> int:
    """Read a number of bytes from an environment variable, such as 500M or "2 GiB".

    Units are powers of 1024.

    :param default: taken where the variable is not set or empty
    :param least: less than this is refused
    :raises KgdashError: if the text is no size, or too small a one
    """
    text = os.environ.get(name) or default
    match = _SIZE.fullmatch(text)
    number = float(match[1]) if match else math.nan
    if not math.isfinite(number):
        match = None
    size = int(number * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else -1
    if size < least:
        floor = f" of at least {least // 2**20} MiB" if least else ""
        raise KgdashError(f"{name}: expected a size{floor}, such as 500M or 2G; found {text!r}")
    return size


def written_size(size: int) -> str:
    """Write an amount for people, rounded down: "64 MiB", below one MiB in "KiB"."""
    return f"{size // 2**20:,} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
