"""What keeps other web pages out: headers on every answer, and a click before links from outside.

Foreign names for this machine (DNS rebinding) are not answered: those beyond Streamlit's setting
``server.allowedHosts``, which ``.streamlit/config.toml`` or `kgdash serve` sets.
"""

from contextlib import suppress
from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit import config, file_util
from streamlit.user_info import AUTH_LOGOUT_ENDPOINT
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from kgdash.files.event_log import note
from kgdash.serving.heads import ANOTHERS, is_for_another_page
from kgdash.ui.runtime.visitors import server_settings
from kgdash.ui.server.login_cookies import LOG_IN, is_return
from kgdash.ui.server.plain_page import BUSY, InTurn, plain_page

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
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

#: where a proxy ends TLS: browsers come by it only, for a year
_ENCRYPTED = {"Strict-Transport-Security": "max-age=31536000"}

_ASK = """<p>Another web page led you here. The address may start a long computation or
a download.</p><p style="overflow-wrap:anywhere"><a href="{address}">{address}</a></p>"""

#: the same address once more, which then a page of this server has led to. It is named: what may
#: stand behind it in the browser (``#…``) made a jump within this page of it
_GO_ON = '<meta http-equiv="refresh" content="0;url={address}"><p><a href="{address}">Go on</a></p>'

#: where the log-in's provider leads back to; Streamlit checks that it began here
_CALLBACK = "/oauth2callback"

#: where log-in begins and ends, and marks between words of an address there, of which OpenID
#: Connect has some six, and bytes: thousands take the loop that answers all a twentieth of a second
_LOG_IN = (_CALLBACK, "/auth/login", AUTH_LOGOUT_ENDPOINT, LOG_IN)
_MOST_WORDS, _LONGEST = 20, 2**13

#: bytes of an address that another site leads to, which the answer has twice, and more of its marks
_LONGEST_LINK = 2**11

#: characters of what the provider, or whoever says to be it, gives as the reason of an error
_LOGGED = 200

#: a service worker that ends itself: kgdash has none, and one of what had this address before goes
#: on in its browsers, between them and each page. They ask for its script anew at each visit
_WORKER = """self.oninstall = () => self.skipWaiting();
self.onactivate = (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) await caches.delete(name);
  await self.registration.unregister();
  for (const client of await self.clients.matchAll()) client.navigate(client.url);
})());
"""

#: asked by monitors, which know the server by its number
_HEALTH = ("/_stcore/health", "/healthz")

#: Streamlit's own counters, which ask nobody for a token and measure every session
_CLOSED = "/_stcore/metrics"


class Protection:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._own = app, InTurn()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse foreign names and other sites' pages, question links, answer with `HEADERS`."""
        if scope["type"] == "websocket" and (reason := _refused(scope)):
            note("refused", reason=reason)
            await self._own.give(BUSY, scope, receive, send)
            return
        if scope["type"] != "http":
            with suppress(WebSocketDisconnected):  # a tab was closed while its page was sent
                await self._app(scope, receive, send)
            return

        encrypted, settings = _is_encrypted(), server_settings()
        asks = settings is not None and settings.login is not None

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS | (_ENCRYPTED if encrypted else {}))
                if asks and "public" not in headers.get("cache-control", ""):
                    # *Back* after *Log out* showed the page; a shared cache might keep files.
                    headers["cache-control"] = "no-store"
                if encrypted:
                    message["headers"] = [*map(_secured, message["headers"])]
            await send(message)

        app = self._app
        if not scope["path"].isprintable():  # routes take a line's end behind a path for nothing
            app = plain_page("Not found", "<p>Nothing is at this address.</p>", 404)
        elif scope["path"] not in _HEALTH and not is_host_allowed(Headers(scope=scope).get("host")):
            note("refused", reason="host")
            app = plain_page("Another name", "<p>This server does not go by that name.</p>", 421)
        elif scope["path"].rstrip("/").endswith(_CLOSED):
            app = plain_page("Not found", "<p>Nothing is at this address.</p>", 404)
        elif Headers(scope=scope).get("service-worker") == "script":
            app = Response(_WORKER, media_type="text/javascript")
        elif _is_ahead(Headers(scope=scope)):
            app = PlainTextResponse("ask when somebody goes there", 503)
        elif _is_taken(Headers(scope=scope)):
            note("refused", reason="origin")
            app = PlainTextResponse("other pages may link here, and nothing else", 403)
        elif scope["path"] in _LOG_IN and _is_wordy(scope["query_string"]):
            app = plain_page("Too much", "<p>Nobody logs in by so many words.</p>", 400)
        elif _is_led_here(scope):
            app = _question(scope)
        elif scope["path"] in _LOG_IN and scope["method"] != "GET":
            app = plain_page("Not so", "<p>Log in by a link.</p>", 405)
        elif scope["path"] == _CALLBACK and not is_return(scope):
            app = RedirectResponse("/", 303)  # now: programs come here all the time
        elif scope["path"] == _CALLBACK:
            scope = _printable(scope)
        if app is self._app:
            await app(_whole(scope), receive, protected)
        else:
            await self._own.give(app, scope, receive, protected)


def _whole(scope: Scope) -> Scope:
    """Ask for whole files: each part of one is a copy in memory, until somebody has read it."""
    return {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"range"]}


def _is_wordy(query: bytes) -> bool:
    """Tell whether an address is more than anybody logs in by."""
    return query.count(b"&") > _MOST_WORDS or len(query) > _LONGEST


def _refused(scope: Scope) -> str:
    """Say why a connection is none for this page: by a foreign name, or a script of another site.

    Streamlit would refuse it, too, but write what strangers say to the terminal, and look up this
    machine's address at an outside service.
    """
    headers = Headers(scope=scope)
    origin, host = headers.get("origin"), headers.get("host")
    if not is_host_allowed(host):
        return "host"
    schemes = ["https"] if _is_encrypted() else ["https", "http"]
    if origin is None or origin in [f"{scheme}://{host}" for scheme in schemes]:
        return ""
    return "" if _is_allowed(origin) else "origin"


def _is_allowed(origin: str | None) -> bool:
    """Tell whether who runs the dashboard has named another site whose scripts may ask it."""
    return origin in st.get_option("server.corsAllowedOrigins")


def _printable(scope: Scope) -> Scope:
    """Return a call of the provider's whose words, which are logged, are few and no commands."""
    said = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    errors = [(name, text[:_LOGGED]) for name, text in said if name.startswith("error")]
    said = [pair for pair in said if not pair[0].startswith("error")] + errors
    if not errors and all(text.isprintable() for pair in said for text in pair):
        return scope
    plain = [["".join(c if c.isprintable() else " " for c in text) for text in p] for p in said]
    return {**scope, "query_string": urlencode([(name, text) for name, text in plain]).encode()}


def _is_encrypted() -> bool:
    """Tell whether visitors come by TLS, which a reverse proxy ends."""
    settings = server_settings()
    return bool(settings and settings.login and settings.login.secrets.is_encrypted)


def _secured(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Keep a cookie to encrypted connections: Streamlit, behind a proxy, does not know of them."""
    name, value = header
    if name.lower() != b"set-cookie" or b"; secure" in value.lower():
        return header
    return name, value + b"; Secure"


def _is_ahead(headers: Headers) -> bool:
    """Tell whether a browser asks before anybody goes there: it does not say whose page wants it.

    Once somebody does, it asks again.
    """
    return any("prefetch" in headers.get(name, "") for name in ("sec-purpose", "purpose", "x-moz"))


def _is_taken(headers: Headers) -> bool:
    """Tell whether another site's page, of none that may, takes something without a visit."""
    return is_for_another_page(headers) and not _is_allowed(headers.get("origin"))


def _is_led_here(scope: Scope) -> bool:
    """Tell whether a link of another site is followed, or one that may be its logs out.

    One leads its own tab here a hundred times a second, and to what it likes. What no page has led
    to (``none``) may be one's own bookmark, and a page that was typed and redirects: nobody logs
    out by either.
    """
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if scope["path"] == AUTH_LOGOUT_ENDPOINT:
        return site not in (None, "same-origin")
    return headers.get("sec-fetch-mode", "navigate") == "navigate" and site in ANOTHERS


def _question(scope: Scope) -> Response:
    """Return a page that leads on: unasked to the start page, and back from a log-in.

    It takes nobody's turn; what it leads to does, and is asked for once somebody has stayed for it.
    """
    query = "?" * bool(scope["query_string"]) + scope["query_string"].decode("latin-1")
    if scope["path"] == _CALLBACK or (scope["path"] == "/" and not query):
        return plain_page("Opening kgdash", _GO_ON.format(address=escape(scope["path"] + query)))
    address = scope.get("raw_path", b"").decode("latin-1").split("?")[0] + query
    # One slash: "//host" would lead elsewhere.
    address = "/" + address.lstrip("/\\")
    if len(written := escape(address)) > _LONGEST_LINK:
        return plain_page("Too long", "<p>Nobody sends a page's address of such length.</p>", 414)
    return plain_page("Open kgdash?", _ASK.format(address=written))


def leave_files_of_this_folder(dashboard: Path) -> None:
    """Have Streamlit take no settings or secrets of the folder where the dashboard is started.

    It may be a stranger's, and let a foreign page drive the dashboard. The user's own ones, and
    those beside the dashboard, count.

    :param dashboard: its app.py
    """

    def files(file_name: str) -> list[str]:
        beside = dashboard.parent / ".streamlit" / file_name
        return [file_util.get_streamlit_file_path(file_name), str(beside)]

    config.get_config_files = files
