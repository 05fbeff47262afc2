"""How much memory a computation may take."""

from __future__ import annotations

import os
import re

from kgdash.errors import KgdashError

_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_LEAST = 2**26


def memory_budget() -> int:
    """Return the bytes that a computation may take beyond the loaded model.

    Block sizes follow from it. ``$KGDASH_MEMORY`` sets it, as "500MB", "4 GiB" or bytes (units are
    powers of 1024); the default is 2 GiB.

    :raises KgdashError: if the variable says no amount, or less than 64 MiB
    """
    text = os.environ.get("KGDASH_MEMORY", "2 GiB")
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmg])i?b?|b)?\s*", text, re.IGNORECASE)
    amount = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    if amount < _LEAST:
        raise KgdashError(
            f"KGDASH_MEMORY: expected an amount of memory of at least 64 MiB, as 2GiB or 500MB; "
            f"found {text!r}"
        )
    return amount


def block_bytes() -> int:
    """Return the bytes that a block of scores may take: it has copies and masks beside it."""
    return min(2**26, memory_budget() // 16)
