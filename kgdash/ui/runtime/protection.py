"""What keeps other web pages out: headers on every answer, and a click before links from outside.

That a foreign name for this machine is not answered (DNS rebinding) is Streamlit's setting
``server.allowedHosts`` in ``.streamlit/config.toml``.
"""

from html import escape
from urllib.parse import urlparse

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgdash.files.event_log import note

#: Streamlit's front end makes styles and scripts; charts and downloads, data: and blob: addresses
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

_ASK = """<!doctype html><html lang="en"><meta charset="utf-8"><title>kgdash</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font:16px system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem">
<h1>Open kgdash?</h1><p>Another web page led you here. The address may start a long computation or
a download.</p><p style="overflow-wrap:anywhere"><a href="{address}">{address}</a></p>"""


class Protection:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse other sites' scripts, question their links, and answer all else with `HEADERS`."""
        if scope["type"] == "websocket" and _is_foreign(scope):
            note("refused", reason="origin")
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = _question(scope) if _is_led_here(scope) else self._app
        await app(scope, receive, protected)


def _is_foreign(scope: Scope) -> bool:
    """Tell whether a script of another site asks: Streamlit would look up this machine's address.

    The look-up, at an outside service, only decides whether to refuse.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None or urlparse(origin).netloc == headers.get("host"):
        return False
    return origin not in st.get_option("server.corsAllowedOrigins")


def _is_led_here(scope: Scope) -> bool:
    """Tell whether a link of another site opens more than the start page."""
    headers = Headers(scope=scope)
    visits = headers.get("sec-fetch-mode") == "navigate"
    from_outside = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return visits and from_outside and bool(scope["query_string"] or scope["path"] != "/")


def _question(scope: Scope) -> ASGIApp:
    address = scope.get("raw_path", b"").decode("latin-1").split("?")[0]
    if scope["query_string"]:
        address += "?" + scope["query_string"].decode("latin-1")
    # One slash: "//host" would lead elsewhere.
    return HTMLResponse(_ASK.format(address=escape("/" + address.lstrip("/\\"))))
