"""Who waits on a server, by the networks that they come from, which go round."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T", bound=Hashable)

#: of a request's scope (ASGI): what is done once its connection has ended
LEFT = "kgdash_left"


def networks(address: str) -> tuple[str, ...]:
    """Return the networks that an address is in, the widest first, down to what one visitor has.

    Of IPv6 that is a network of 64 bits; a customer may have a thousand of them, or more. All that
    is no address, as of a socket that has none, is one network.
    """
    try:
        read = ipaddress.ip_address(address.partition("%")[0])  # of a link's address
    except ValueError:
        return ("",)
    if isinstance(read, ipaddress.IPv6Address):
        if read.ipv4_mapped is None:
            return tuple(read.exploded[:length] for length in (9, 14, 19))
        read = read.ipv4_mapped
    parts = str(read).split(".")
    return tuple(".".join(parts[:count]) for count in (2, 3, 4))


def networks_of(scope: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the networks that a request comes from, of its ASGI scope."""
    return networks(str((scope.get("client") or ("",))[0]))


class Left(asyncio.Future[None]):
    """Done once who sent a request has left, which is known as long as their connection is read.

    ``in_turn``: whether they wait for a turn, in which nobody reads the body that they send.
    """

    in_turn = False


def left_of(scope: Mapping[str, Any]) -> Left | None:
    """Return what is done once who sent a request has left; None where nobody tells."""
    return scope.get(LEFT)


class Waiting(Generic[T]):
    """Who waits for a turn, each once, by the networks they come from, one within the other."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: dict[str, Waiting[T]] = {}
        self._here = OrderedDict[T, None]()
        # The names of parts by how many wait there: looking through thousands takes 0.2 ms.
        self._sized = defaultdict[int, OrderedDict[str, None]](OrderedDict)

    def put(self, asker: Sequence[str], comes: T) -> None:
        """Have somebody wait behind all of the same network, and one of each other."""
        self.count += 1
        if asker:
            part = self._parts.setdefault(asker[0], Waiting())
            before = part.count
            part.put(asker[1:], comes)
            self._note(asker[0], before)
        else:
            self._here[comes] = None

    def first(self) -> T:
        """Take away whose turn it is: networks go round, and within each its parts."""
        self.count -= 1
        if self._here:
            return self._here.popitem(last=False)[0]
        name = next(iter(self._parts))
        part = self._parts[name] = self._parts.pop(name)  # behind all others
        found = part.first()
        self._note(name, part.count + 1)
        return found

    def remove(self, asker: Sequence[str], goes: T) -> bool:
        """Take away somebody who waits no more; return whether they were there."""
        if asker:
            part = self._parts.get(asker[0])
            was_there = part is not None and part.remove(asker[1:], goes)
            if part is not None and was_there:
                self._note(asker[0], part.count + 1)
        elif was_there := goes in self._here:
            del self._here[goes]
        self.count -= was_there
        return was_there

    def make_room(self, asker: Sequence[str]) -> T | None:
        """Take away the last of the network that has most who wait; None where it is one's own."""
        if not (asker and self._parts):
            return None
        own, most = self._parts.get(asker[0]), self._largest()
        if self._parts[most].count > (own.count if own else 0) + 1:
            return self._last_of(most)
        found = own.make_room(asker[1:]) if own else None
        if own and found is not None:
            self.count -= 1
            self._note(asker[0], own.count + 1)
        return found

    def _largest(self) -> str:
        """Name the part that has most who wait, the latest of several."""
        return next(reversed(self._sized[max(self._sized)]))

    def _last_of(self, name: str) -> T:
        """Take away the last of a part."""
        self.count -= 1
        part = self._parts[name]
        if part._parts:
            found = part._last_of(part._largest())
        else:
            part.count -= 1
            found = part._here.popitem()[0]
        self._note(name, part.count + 1)
        return found

    def _note(self, name: str, before: int) -> None:
        """Note how many wait in a part, where others did; one where nobody does is forgotten."""
        if before:
            del self._sized[before][name]
            if not self._sized[before]:
                del self._sized[before]
        if self._parts[name].count:
            self._sized[self._parts[name].count][name] = None
        else:
            del self._parts[name]
