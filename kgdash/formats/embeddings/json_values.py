"""JSON files beside vectors."""

from pathlib import Path
from typing import Any

from kgdash.errors import KgdashError
from kgdash.files.regular import open_regular
from kgdash.files.text import parse_plain_json

#: bytes of a file of settings, of one of names
_MOST, _MOST_NAMES = 2**24, 2**30


def read_object(path: Path, cure: str) -> dict[str, Any]:
    """Read a JSON object.

    :param cure: what to do where the file can not be read
    :raises KgdashError: if it can not be read, or holds something else
    """
    value = _read(path, _MOST, cure)
    if not isinstance(value, dict):
        raise KgdashError(f"{path}: expected a JSON object; found {type(value).__name__}")
    return value


def read_name_list(path: Path) -> tuple[str, ...]:
    """Read a JSON list of names; they may stand twice.

    :raises KgdashError: if it can not be read, or holds something else
    """
    value = _read(path, _MOST_NAMES, "copy it again")
    if not isinstance(value, list):
        raise KgdashError(f"{path}: expected a JSON list; found {type(value).__name__}")
    for number, name in enumerate(value, start=1):
        if not isinstance(name, str):
            raise KgdashError(f"{path}, name {number:,}: expected a name; found {name!r:.40}")
    return tuple(value)


def _read(path: Path, most: int, cure: str) -> Any:
    try:
        with open_regular(path, most) as stream:
            return parse_plain_json(stream.read())
    except OSError as error:
        raise KgdashError(f"can not read {path}: {error.strerror or error}; {cure}") from error
    except (ValueError, RecursionError) as error:
        raise KgdashError(f"{path} is not valid JSON: {error!s:.120}") from error
