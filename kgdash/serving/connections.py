"""How many connections a server takes at once and has open: a process opens only so many files.

Where it has none left for one more, the loop that answers all does nothing but try, and tell of it.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from itertools import chain, islice
from typing import Any

import uvicorn

from kgdash.serving.pace import Pace
from kgdash.serving.resting import ending

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

#: connections that are open at once, and files that are left for all else: each session has three
_MOST_OPEN, _OTHER_FILES = 2**13, 2**12

#: connections that are taken at one go, before anything else is done or any of them is counted; and
#: that the system keeps meanwhile: one more begins again after a second, or three
_TAKEN, _KEPT = 64, 2**11

#: seconds that a server which ends waits for answers under way
_GRACE = 30

#: connections that end where no file is left
_ROOM = 2**9

#: connections on which no request is under way, those whose answer nobody reads, and those whose
#: request waits among strangers', whose sender may have left; the ones that have been so for
#: longest first
silent: dict[Any, None] = {}
unread: dict[Any, None] = {}
waiting: dict[Any, None] = {}

#: whether as many as may ended in this round of the loop, whose files are closed in the next
_ended = False

#: how often it is told that there are no files left: once, and each minute
_told = Pace(1, 1 / 60)


class FewTaken(uvicorn.Config):
    """A server's settings, among them how many connections the system keeps before it begins.

    ``ends``: whether the server has begun to end.
    """

    ends = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        ours = {"backlog": _KEPT, "timeout_graceful_shutdown": _GRACE}
        super().__init__(*arguments, **ours | named)


class PatientServer(uvicorn.Server):
    """A server for which the system keeps more connections than are taken at one go."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        self.config.backlog = _TAKEN  # of asyncio: taken at one go, too
        await super().startup(sockets)
        for server in self.servers:
            for each in server.sockets:
                with socket.fromfd(each.fileno(), each.family, each.type) as listening:
                    listening.listen(_KEPT)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; connections that were taken and are not made yet end as they are made."""
        self.config.ends = True  # type: ignore[attr-defined]
        await super().shutdown(sockets)


def take_connections() -> int:
    """Have the server that this process starts take them so, and return how many at most."""
    uvicorn.Config, uvicorn.Server = FewTaken, PatientServer  # type: ignore[misc]
    return most_connections()


def most_connections() -> int:
    """Have this process open as many files as it needs, or may, and return how many connections."""
    if resource is None:
        return _MOST_OPEN
    wanted = _MOST_OPEN + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(wanted - _OTHER_FILES, wanted // 2)


def end_some(count: int) -> None:
    """End connections: of those that may be, whichever are most, the longest so."""
    kinds: list[dict[Any, None]] = sorted((ending, unread, waiting, silent), key=len, reverse=True)
    for first in list(islice(chain(*kinds), count)):
        first.abort()


def make_room(loop: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
    """Have connections give way where no file is left; as handler of exceptions."""
    global _ended
    if _is_out_of_files(about) and not _ended:
        _ended = True
        end_some(_ROOM)
        loop.call_soon(_go_on)
    _tell_seldom(loop, about)


def _go_on() -> None:
    global _ended
    _ended = False


def _is_out_of_files(about: dict[str, Any]) -> bool:
    """Tell whether what asyncio tells of is that no file is left.

    :param about: as of its exception handlers
    """
    error = about.get("exception")
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def _tell_seldom(loop: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
    """Have asyncio tell of a connection that finds no file left only now and then.

    It tells of each that waits, 2,048 times a second, with a traceback.
    """
    if not _is_out_of_files(about):
        loop.default_exception_handler(about)
    elif _told.left() >= 1:
        _told.take(1)
        loop.default_exception_handler(about)
