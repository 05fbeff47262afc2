"""The door of a server that asks for log-in: nothing behind it answers to strangers.

Log-in itself is Streamlit's (OpenID Connect by Authlib): its routes, its signed cookie. Here it is
only asked whose cookie comes with a request, before Streamlit makes a session.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from html import escape

from anyio import CancelScope
from starlette.requests import HTTPConnection, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.user_info import AUTH_LOGOUT_ENDPOINT, generate_login_redirect_url

from kgdash.files.event_log import note
from kgdash.files.visitor import Visitor
from kgdash.serving.access import admitted, end_log_in
from kgdash.serving.let_in import ask_of, cookies_of, note_log_in, note_network, turn_of
from kgdash.serving.pace import Full, Gone, Turns
from kgdash.serving.settings import ServerSettings
from kgdash.ui.runtime.visitors import IS_IN, OWNER, server_settings
from kgdash.ui.server.answers import Answers
from kgdash.ui.server.login_cookies import LOG_IN, begin, come_back, logged_in, sealing, way_in
from kgdash.ui.server.plain_page import BUSY, InTurn, plain_page

#: where the provider leads back to, and Streamlit makes its cookie
_CALLBACK = "/oauth2callback"

#: where Streamlit leads to the provider
_BEGINNING = "/auth/login"

#: what strangers need to log in, and monitors to see that the server lives; what more there is to
#: see, `kgdash.ui.server.health` tells this machine alone
OPEN = (
    _BEGINNING,
    AUTH_LOGOUT_ENDPOINT,
    _CALLBACK,
    "/_stcore/health",
    "/healthz",
    "/metricsz",
)


#: where Streamlit works for strangers, in part with the provider's help
_WORK = (_BEGINNING, _CALLBACK, AUTH_LOGOUT_ENDPOINT)

#: how many strangers are served at once; seconds of rest after each, where Streamlit works and
#: elsewhere. Without them strangers keep the loop that answers all busy, which lets go of Python at
#: each call of the system's: where others compute, a page comes to its turn as if by chance. And
#: seconds after which a provider that is silent keeps no turn
_AT_ONCE, _REST, _SHORT_REST, _LONGEST = 8, 0.2, 0.05, 30

#: strangers that wait for their turn, and what others are told; cookies of a request, of which
#: browsers send some 180 at most
_MOST_WAIT, _MOST_COOKIES = 1_000, 200
_TOO_MANY = plain_page("Too many cookies", "<p>Clear the cookies of this address.</p>", 431)


class LogInDoor:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._working = Turns(_AT_ONCE, _REST, _LONGEST, _MOST_WAIT)
        self._looking = Turns(_AT_ONCE, _SHORT_REST, _LONGEST, _MOST_WAIT)
        self._own, self._answers = InTurn(), Answers()
        ask_of(_whose)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in who may open the dashboard, and offer log-in to all others."""
        if scope["type"] in ("http", "websocket"):
            scope = _with_plain_cookies(scope)
        try:
            await self._serve(scope, receive, send)
        except Full:
            await BUSY(scope, receive, send)
        except Gone:
            pass

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        settings = server_settings()
        asks = settings is not None and settings.login is not None
        if asks and scope["type"] in ("http", "websocket") and _are_too_many(cookies_of(scope)):
            await self._own.give(_TOO_MANY, scope, receive, send)
            return
        path = scope["path"] if scope["type"] == "http" else ""
        if asks and path == AUTH_LOGOUT_ENDPOINT:
            assert settings is not None
            end_log_in(_claims(HTTPConnection(scope).cookies, settings), settings)
        if scope["type"] not in ("http", "websocket") or not asks:
            await self._app(scope, receive, send)
            return
        if path in _WORK:
            try:
                await self._let_through(scope, receive, send)
            finally:  # whose log-in has ended had the turn of who is in for this alone
                if path == AUTH_LOGOUT_ENDPOINT:
                    note_log_in(cookies_of(scope), "")
            return
        assert settings is not None
        cookies = HTTPConnection(scope).cookies  # of all headers, as Streamlit reads them
        claims, who = _who(cookies, settings)
        note_log_in(cookies_of(scope), who.folder or "" if who else "")
        if who is not None:
            note_network(scope)
            is_in = partial(admitted, claims, settings)
            scope = {**scope, OWNER: who.folder, IS_IN: lambda: is_in() is not None}
            app = come_back(scope, cookies) or self._app
            if scope["type"] == "websocket":
                await app(scope, receive, send)
                return
            del cookies
            await self._answers.give(who.folder or "", app, scope, receive, send)
            return
        if path in OPEN:  # pages ask before they connect: who is let in waits for no stranger
            await self._let_through(scope, receive, send)
            return
        note("refused", reason="login")
        del cookies
        await self._own.give(partial(_answer, claims), scope, receive, send)

    async def _let_through(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer to strangers, too: within a turn, but for sending, which who reads may put off."""
        works = scope["path"] in _WORK
        if works:
            _spare_provider()
        answer: list[Message] = []
        async with turn_of(scope, self._working if works else self._looking):
            if (whole := await _heard(receive)) is not None:
                await self._app(scope, whole, _into(answer))
        is_back = scope["path"] == _CALLBACK
        out = sealing(send, HTTPConnection(scope).cookies) if is_back else send
        for message in answer:
            await out(message)


def _with_plain_cookies(scope: Scope) -> Scope:
    """Leave out cookies with a backslash, which none of ours has.

    Python takes a third of a second to read 15 KB of them, and the loop that answers all with it.
    """
    headers = [
        (name, _plain_cookies(value) if name.lower() == b"cookie" and b"\\" in value else value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


def _plain_cookies(header: bytes) -> bytes:
    return b";".join(pair for pair in header.split(b";") if b"\\" not in pair)


def _are_too_many(cookies: bytes) -> bool:
    """Tell whether there are more than browsers send, which take long to read."""
    return cookies.count(b";") + 1 > _MOST_COOKIES


def _whose(cookies: bytes) -> str:
    """Return the folder of who is let in by some cookies; "" of others."""
    settings = server_settings()
    if settings is None or settings.login is None or _are_too_many(cookies):
        return ""
    _, who = _who(cookie_parser(_plain_cookies(cookies).decode("latin-1")), settings)
    return who.folder or "" if who else ""


def _into(answer: list[Message]) -> Send:
    async def keep(message: Message) -> None:
        answer.append(message)

    return keep


async def _heard(receive: Receive) -> Receive | None:
    """Return what receives a request without its body, which strangers need for nothing.

    None if whoever sent it has gone meanwhile.
    """
    heard: list[Message] = []
    with CancelScope() as now:
        now.cancel()
        heard.append(await receive())
    if heard and heard[0]["type"] == "http.disconnect":
        return None
    none: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def without_body() -> Message:
        if none:
            return none.pop()
        while (message := await receive())["type"] == "http.request":
            pass
        return message

    return without_body


@cache
def _spare_provider() -> None:
    # Imported here: who logs in nowhere needs none of it.
    from kgdash.serving.provider import spare_provider

    spare_provider()


async def _answer(claims: dict, scope: Scope, receive: Receive, send: Send) -> None:
    await _page(scope, claims)(scope, receive, send)


def _page(scope: Scope, claims: dict) -> Response:
    if scope["path"] == LOG_IN:
        return begin(scope, generate_login_redirect_url("default"))
    link = escape(way_in(scope))
    if not claims:
        body = f'''<p>Where can a knowledge-graph embedding be trusted?</p>
<p><a class="button" href="{link}">Log in</a></p>'''
        return plain_page("kgdash", body, 401)
    who = claims.get("email") or claims.get("name") or claims.get("sub")
    return plain_page(
        "No access",
        f"<p>You are logged in as <b>{escape(str(who)[:200])}</b>, who may not open this "
        "dashboard, or whose log-in has ended. Ask whoever runs it.</p>"
        f'<p><a href="{link}">Log in again</a> or <a href="{AUTH_LOGOUT_ENDPOINT}">log out</a>.'
        "</p>",
        403,
    )


def _who(cookies: Mapping[str, str], settings: ServerSettings) -> tuple[dict, Visitor | None]:
    """Return what the signed cookie says, and who is let in by it."""
    claims = _claims(cookies, settings)
    return claims, admitted(claims, settings) if claims else None


def _claims(cookies: Mapping[str, str], settings: ServerSettings) -> dict:
    """Return what the signed cookie says, {} where there is none of this server."""
    try:
        claims = json.loads(logged_in(cookies) or b"{}")
    except (ValueError, RecursionError):
        return {}
    if settings.login is None or not isinstance(claims, dict):
        return {}
    ours = claims.get("origin") == settings.login.secrets.origin
    return claims if ours and claims.get("is_logged_in") is True else {}
