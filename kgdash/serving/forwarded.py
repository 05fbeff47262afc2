"""Who asks through a reverse proxy, told before a request is taken apart."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kgdash.serving.waiting import networks

_FORWARDED = re.compile(rb"\r\nx-forwarded-for:([^\r\n]*)", re.IGNORECASE)


def who_asks(
    client: tuple[str, int] | None, head: bytes, before: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the networks of who sends a request, as `kgdash.serving.waiting.networks`.

    :param client: of the connection; of a proxy that uvicorn trusts (``FORWARDED_ALLOW_IPS``), it
        is the last address that this tells of and that is none of its like
    :param head: a part of the request before its body
    :param before: of the part before, where the proxy tells nothing in this one
    """
    address = str((client or ("",))[0])
    proxies = _proxies(os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"))
    if address in proxies:
        told = _FORWARDED.findall(head.partition(b"\r\n\r\n")[0])
        if not told:
            return before or networks(address)
        hosts = [each.strip() for each in b",".join(told).decode("latin-1").split(",")]
        address = next((host for host in reversed(hosts) if host not in proxies), hosts[0])
    return networks(address)


@cache
def _proxies(trusted: str) -> Any:
    return ProxyHeadersMiddleware(_nobody, trusted).trusted_hosts


async def _nobody(*_: Any) -> None:
    """Answer to nobody: only who is trusted is asked for."""
