"""The provider of log-ins: asked for its addresses seldom, by clients that cost little.

Streamlit makes a client of Authlib's for each beginning, return and end of a log-in. Each would
read all certificates that are trusted, 40 ms of the one thread that answers everybody, and ask the
provider for its addresses: strangers who begin log-ins could keep others waiting.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from functools import cache
from typing import Any

import httpx
from authlib.integrations import starlette_client
from authlib.integrations.httpx_client import AsyncOAuth2Client

#: seconds for which the provider's addresses are good
_GOOD = 300.0

#: seconds and bytes of an answer
_PATIENCE, _MOST = 20.0, 2**20


@cache
def _trusted() -> ssl.SSLContext:
    """Return the certificates that are trusted, read once."""
    return httpx.create_ssl_context()


class ProviderClient(AsyncOAuth2Client):
    """Authlib's client, whose certificates all share, and which waits and reads so much."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what Authlib's takes."""
        super().__init__(*args, **{"verify": _trusted(), **kwargs})

    async def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """Send a request and read the whole answer.

        :raises httpx.HTTPError: if it is away, or says too little for too long, or too much
        """
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await super().send(request, **{**how, "stream": True})
                try:
                    content = b""
                    async for part in answer.aiter_bytes():
                        content += part
                        if len(content) > _MOST:
                            raise httpx.DecodingError("the provider says too much", request=request)
                finally:
                    await answer.aclose()
        except TimeoutError as error:
            raise httpx.ReadTimeout("the provider does not answer", request=request) from error
        answer._content = content
        return answer


class ProviderApp(starlette_client.StarletteOAuth2App):
    """Authlib's side of a log-in, which remembers what the provider says of itself."""

    client_cls = ProviderClient

    #: address -> what is said there, or is being asked for
    _said: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def load_server_metadata(self) -> dict[str, Any]:
        """Return the provider's addresses, asked for once by all who want them meanwhile."""
        address = self._server_metadata_url
        if not address:
            return dict(await super().load_server_metadata())
        asked = self._said.get(address)
        if asked is None or _is_old(asked):
            asked = asyncio.ensure_future(super().load_server_metadata())
            self._said[address] = asked
        self.server_metadata = dict(await asyncio.shield(asked))
        return self.server_metadata


def _is_old(asked: asyncio.Task[dict[str, Any]]) -> bool:
    """Tell whether an answer failed, or is too old."""
    if not asked.done():
        return False
    failed = asked.cancelled() or asked.exception() is not None
    return failed or time.time() - asked.result()["_loaded_at"] > _GOOD


def spare_provider() -> None:
    """Have all that Streamlit makes from now on be such."""
    starlette_client.StarletteOAuth2App = ProviderApp
