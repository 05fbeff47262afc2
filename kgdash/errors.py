"""The one exception that users see.

Every message says what was expected, what was found, where (file and line) and what to do about
it; pages and command line print it as it is and never show a traceback.
"""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Self

#: characters of a message of which the middle is left out: names in files may have any length
_LONGEST = 2_000


class KgdashError(ValueError):
    """Input that kgdash refuses, with a message that names the cause and the cure.

    The message can be printed and shown, whatever it quotes: it is UTF-8, and not long.
    """

    def __init__(self, message: str) -> None:
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST * 3 // 4]} … {message[-_LONGEST // 4 :]}"
        super().__init__(message.encode("utf-8", "backslashreplace").decode())

    def again(self) -> Self:
        """Return the same refusal, to be raised once more: what was raised holds who raised it."""
        same = type(self).__new__(type(self), *self.args)
        same.__dict__.update(self.__dict__)
        return same


class InterruptedWork(KgdashError):
    """A process that ended amid its work; asked again, the work is done again, or gone on with."""

    def __init__(self, what: str, code: int, cure: str) -> None:
        """Say so in a sentence.

        :param what: the process, "The process of this computation"
        :param code: that it ended with
        :param cure: what to do about it
        """
        super().__init__(
            f"{what} was ended from outside, or its memory did not suffice (code {code}): {cure}."
        )


#: pairs of characters that are compared for a suggestion, in seconds at most
_COMPARED = 2**25

#: up to so many names, a message lists them all
_FEW = 8


def check_name(kind: str, name: str, known: Collection[str], where: str) -> None:
    """Refuse a name that is not there, as `unknown_name` words it.

    :raises KgdashError: if it is not among those known
    """
    if name not in known:
        raise unknown_name(kind, name, list(known), where)


def unknown_name(kind: str, name: str, known: Sequence[str], where: str) -> KgdashError:
    """Build the refusal of a name that is not there, suggesting the nearest ones.

    :param kind: what the name is of, e.g. ``"entity"``
    :param known: the names that would have been accepted
    :param where: the thing that does not have it, e.g. ``"graph umls"``
    :return: the error, to be raised by the caller
    """
    return UnknownName(kind, name, lambda: known, where)


class UnknownName(KgdashError):
    """The refusal of `unknown_name`, whose words are looked for once they are asked for.

    Comparing a name with thousands takes half a second, and many are tried without a word.
    """

    def __init__(self, kind: str, name: str, known: Callable[[], Sequence[str]], where: str):
        """Take what `unknown_name` does.

        :param known: gives the names that would have been accepted
        """
        super().__init__("")
        self._told = cache(lambda: str(KgdashError(_unknown(kind, name, known(), where))))

    def __str__(self) -> str:
        """Return the message."""
        return self._told()

    def __reduce__(self) -> tuple:
        """Go to other processes as words."""
        return KgdashError, (str(self),)


def _unknown(kind: str, name: str, known: Sequence[str], where: str) -> str:
    # A stranger's names may be many, and long.
    short = known if len(name) * sum(map(len, known)) <= _COMPARED else ()
    folded = {candidate.casefold(): candidate for candidate in reversed(short)}
    near = [folded[match] for match in get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    choices = ", ".join(known) if 0 < len(known) <= _FEW else f"{len(known):,} known"
    return f"unknown {kind} {name!r} in {where} ({choices}){hint}"


class OwnLineFull(KgdashError):
    """A visitor of a server, ``owner``, has as many computations in line as they may."""

    def __init__(self, message: str, owner: str) -> None:
        """Take what users read, and whose bound it was."""
        super().__init__(message)
        self.owner = owner

    def __reduce__(self) -> tuple:
        """Go to other processes whole."""
        return type(self), (str(self), self.owner)
