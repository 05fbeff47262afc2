"""Who asks through a reverse proxy, told before a request is taken apart."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kgdash.serving.waiting import networks

_FORWARDED = re.compile(rb"\r\nx-forwarded-for:([^\r\n]*)", re.IGNORECASE)


def who_asks(client: tuple[str, int] | None, data: bytes) -> tuple[str, ...]:
    """Return the networks of who sends a request, as `kgdash.serving.waiting.networks`.

    :param client: of the connection; of a proxy that uvicorn trusts (``FORWARDED_ALLOW_IPS``), it
        is the address that this tells
    :param data: the first bytes of the request: where the header does not stand in them, the proxy
        itself asks
    """
    address = str((client or ("",))[0])
    proxies = _proxies(os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"))
    if address in proxies and (told := _FORWARDED.findall(data.partition(b"\r\n\r\n")[0])):
        address = proxies.get_trusted_client_address(b", ".join(told).decode("latin-1"))[0]
    return networks(address)


@cache
def _proxies(trusted: str) -> Any:
    return ProxyHeadersMiddleware(_nobody, trusted).trusted_hosts


async def _nobody(*_: Any) -> None:
    """Answer to nobody: only who is trusted is asked for."""
