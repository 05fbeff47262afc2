"""Doors from below to above: `Run.plot` opens what stands in rows that runs may not import.

`kgdash` itself, at the top, puts here what is behind a door; an import of any part runs that first.
"""

from collections.abc import Callable
from typing import Any

#: name of the attribute -> what makes it of the object that is asked
ACCESSORS: dict[str, Callable[[Any], Any]] = {}
