"""A table of a TOML file, whose values are taken out one by one, each of a kind."""

from __future__ import annotations

from typing import Any

from kgdash.errors import KgdashError, unknown_name

_MISSING: Any = object()


class Table:
    """The values of a table that were not taken yet.

    :param shown: the file's name
    :param name: of the table, "" for the file itself
    :param shows: whether messages may show values; else they are secrets
    """

    def __init__(
        self, values: dict[str, Any], shown: str, name: str = "", shows: bool = True
    ) -> None:
        self._values, self._shown, self._name, self._shows = values, shown, name, shows
        self._known: list[str] = []

    def has(self, key: str) -> bool:
        """Tell whether a key is there."""
        return key in self._values

    def wrong(self, key: str, expected: str) -> KgdashError:
        """Build the refusal of a value, to be raised by the caller."""
        table = f"[{self._name}] " if self._name else ""
        return KgdashError(f"{self._shown}: {table}{key}: expected {expected}")

    def table(self, key: str) -> Table | None:
        """Take a table, or None where there is none."""
        value = self._take(key, None)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(key, f"a table, [{key}]; found {self._found(value)}")
        return None if value is None else Table(value, self._shown, key, self._shows)

    def text(self, key: str, default: str = _MISSING) -> str:
        """Take a text."""
        value = self._take(key, default)
        if not isinstance(value, str) or (not value.strip() and value != default):
            raise self.wrong(key, f"a text in quotes; found {self._found(value)}")
        return value

    def texts(self, key: str) -> list[str]:
        """Take a list of texts; none where it is not there."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, f"a list of texts in quotes; found {self._found(value)}")
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """Take a whole number."""
        value = self._take(key, default)
        if type(value) is not int or not least <= value <= most:
            found = self._found(value)
            raise self.wrong(key, f"a whole number from {least:,} to {most:,}; found {found}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Take true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, f"true or false; found {self._found(value)}")
        return value

    def end(self) -> None:
        """Refuse what nobody took.

        :raises KgdashError: naming the key, and those that there are
        """
        for key in self._values:
            if key not in self._known:
                table = f"[{self._name}] of " if self._name else ""
                raise unknown_name("key", key, self._known, f"{table}{self._shown}")

    def _take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._values.get(key, default)

    def _found(self, value: Any) -> str:
        if value is _MISSING:
            return "nothing"
        return f"{value!r:.60}" if self._shows else "something else"
