"""Who asks through a reverse proxy, told before a request is taken apart."""

from __future__ import annotations

import logging
import os
import re
from functools import cache
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kgdash.serving.heads import MOST_SAID, end_of, is_for_another_page, whose_page
from kgdash.serving.let_in import stranger
from kgdash.serving.pace import Pace
from kgdash.serving.waiting import networks

_FORWARDED = re.compile(rb"\nx-forwarded-for:([^\r\n]*)", re.IGNORECASE)

#: how often it is told of a proxy that nobody has named: once, and each day
_told = Pace(1, 1 / 86_400)


def who_asks(client: tuple[str, int] | None, head: bytes, visitor: str = "") -> tuple[str, ...]:
    """Return by what who sends a request waits, as `kgdash.serving.let_in.stranger`.

    Of a visitor who is logged in it is their name, wherever they come from. What another site's
    page takes is a part of its address, or of the visitor, whose own requests come first.

    :param client: of the connection; of a proxy that uvicorn trusts (``FORWARDED_ALLOW_IPS``), it
        is the last address that this tells of and that is none of its like; of one that tells of
        more than anybody does, whose request is refused, the proxy
    :param head: all of it; what came behind is of no matter
    :param visitor: who is logged in, as `kgdash.serving.let_in.whose_log_in`
    """
    address = str((client or ("",))[0])
    proxies = _proxies(os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"))
    told = b", ".join(_FORWARDED.findall(head, 0, end_of(head)))
    if address not in proxies:
        if told and _told.left() >= 1:
            _tell_of(address)
    elif 0 < len(told) <= MOST_SAID:
        address, _ = proxies.get_trusted_client_address(told.decode("latin-1"))
    asker = (visitor,) if visitor else stranger(networks(address))
    return (*asker, "for another page") if is_for_another_page(whose_page(head)) else asker


def _tell_of(address: str) -> None:
    """Warn that whoever comes through a proxy is taken for the proxy, where it is one."""
    _told.take(1)
    logging.getLogger(__name__).error(  # kgdash keeps warnings of libraries to itself
        "%s passes on others' requests (X-Forwarded-For) and is not named in FORWARDED_ALLOW_IPS: "
        "if it is your proxy, name it there, or one stranger keeps all others from logging in",
        address,
    )


@cache
def _proxies(trusted: str) -> Any:
    return ProxyHeadersMiddleware(_nobody, trusted).trusted_hosts


async def _nobody(*_: Any) -> None:
    """Answer to nobody: only who is trusted is asked for."""
