"""Who uses kgdash, and what they may: whoever is at this machine everything, visitors less.

A face that serves several people says who asks with `ask_who`; libraries and commands never do.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from kgdash.errors import KgdashError

#: right -> what it lets one do
RIGHTS = {
    "add": "add runs",
    "change": "rename or remove runs",
    "clear": "clear the cache",
    "train": "train runs",
}


@dataclass(frozen=True)
class Visitor:
    """One person; by default the one at this machine.

    ``name`` is what others read ("" at this machine). ``folder`` names the one of their own things
    among all visitors' ("": the user's data itself, None: they have none). ``roots`` are the
    folders below which they may open files, None for everything. ``rights`` are keys of `RIGHTS`.
    Of a table that they hand in ``most_rows`` are read, names of ``longest_label`` characters;
    None: all.
    """

    name: str = ""
    folder: str | None = ""
    roots: tuple[Path, ...] | None = None
    rights: frozenset[str] = frozenset(RIGHTS)
    most_rows: int | None = None
    longest_label: int | None = None

    def may(self, right: str) -> bool:
        """Tell whether they have a right, one of `RIGHTS`."""
        return right in self.rights

    @property
    def is_local(self) -> bool:
        """Tell whether they are at this machine, and bounded by what it has alone."""
        return self.folder == ""

    @property
    def owner(self) -> str:
        """Name them among all visitors, whose places in line are counted; "" at this machine."""
        return "nobody" if self.folder is None else self.folder

    def unnamed(self) -> "Visitor":
        """Return somebody who may open as much, and has nothing of their own."""
        if self.is_local:
            return self
        return replace(self, name="", folder=None, rights=frozenset())


#: somebody who may do nothing: whose log-in has ended, and what no visitor asks for
NOBODY = Visitor(folder=None, roots=(), rights=frozenset(), most_rows=0, longest_label=0)

_source: list[Callable[[], Visitor]] = [Visitor]
_stands_for: ContextVar[Visitor | None] = ContextVar("stands_for", default=None)


def ask_who(source: Callable[[], Visitor]) -> None:
    """Let this process ask ``source`` who it works for, from any thread."""
    _source[0] = source


@contextmanager
def working_for(who: Visitor) -> Iterator[None]:
    """Let this thread work for somebody, whoever would be asked about."""
    former = _stands_for.set(who)
    try:
        yield
    finally:
        _stands_for.reset(former)


def visitor() -> Visitor:
    """Return for whom this thread works."""
    return _stands_for.get() or _source[0]()


def check_right(right: str) -> None:
    """Refuse what the visitor has no right to do.

    :param right: one of `RIGHTS`
    :raises KgdashError: if they may not
    """
    if not visitor().may(right):
        raise KgdashError(f"you may not {RIGHTS[right]} here; ask whoever runs this server")
