"""Cookies of a log-in: that it began here, that its pieces belong together, where one wanted to.

Streamlit cuts a long cookie into pieces and signs each alone. Who may write much into their own
claims could put pieces of several log-ins together, and be somebody else.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import b64decode
from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode

from itsdangerous import BadSignature, TimestampSigner
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Scope, Send
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import (
    create_signed_value,
    decode_signed_value,
)
from streamlit.web.server.starlette.starlette_server_config import (
    SESSION_COOKIE_NAME,
    USER_COOKIE_NAME,
)

#: of the digest of a log-in that is in pieces, and of the address that was asked for before it,
#: which stands behind that digest once one is logged in
SEAL, WANTED = "kgdash_login", "kgdash_wanted"

#: where the provider's log-in begins: here, since Streamlit's own address holds for two minutes
LOG_IN = "/log-in"

#: characters of an address that is come back to, and seconds that logging in may take, and what
#: a browser does then
_LONGEST, _PATIENCE, _AT_ONCE = 2_000, 900, 60

#: a page: neither "//host" and "/\\host", which would lead elsewhere, nor where log-in ends
_OWN = re.compile(r"/[a-z_]*(\?[!-~]*)?")

#: Starlette's cookie of the log-ins that have begun: what it says, its time, its signature
_BEGUN = re.compile(rf"(?<![^; ]){SESSION_COOKIE_NAME}=([\w+/]+=*\.[\w-]+\.[\w-]+)(?![^; ])")


def is_return(scope: Scope) -> bool:
    """Tell whether a log-in that this browser began, and has not ended, is come back from.

    :param scope: of a request that says which log-in by its ``state``
    """
    state = QueryParams(scope["query_string"]).get("state")
    found = _BEGUN.findall(";".join(Headers(scope=scope).getlist("cookie")))
    return bool(found) and state in _states(found[-1])  # the one that Starlette takes


def _states(value: str) -> set[str]:
    """Return the states of the log-ins that a signed cookie says have begun, as Authlib notes them.

    One that anybody could have made says nothing: what it led to takes the provider's turns.
    """
    secret = get_cookie_secret()
    try:
        noted = json.loads(b64decode(TimestampSigner(secret).unsign(value))) if secret else None
    except (BadSignature, ValueError, RecursionError):
        return set()
    keys = (key.split("_", 3) for key in noted) if isinstance(noted, dict) else ()
    return {key[3] for key in keys if key[:2] == ["", "state"] and key[3:]}


def logged_in(cookies: Mapping[str, str]) -> bytes:
    """Return what the signed cookie of a log-in says; nothing if it is not whole, or not signed.

    :param cookies: name -> value, as a browser sends them
    """
    said = get_cookie_with_chunks(lambda name: signed(cookies, name), USER_COOKIE_NAME) or b""
    in_pieces = said != signed(cookies, USER_COOKIE_NAME)
    seal = signed(cookies, SEAL) or b""
    return b"" if in_pieces and not hmac.compare_digest(seal, _digest(said)) else said


def signed(cookies: Mapping[str, str], name: str) -> bytes | None:
    """Return the value of a signed cookie; None if it is not there, or another's."""
    value, secret = cookies.get(name), get_cookie_secret()
    # Signed with nothing, anybody could have made it.
    return decode_signed_value(secret, name, value) if value and secret else None


def sealing(send: Send, cookies: Mapping[str, str]) -> Send:
    """Send an answer with a seal beside the cookie of a log-in that it sets.

    Where one wanted to counts after this log-in alone: pages of neighbours may set cookies.

    :param cookies: of the request
    """
    wanted = (signed(cookies, WANTED) or b"").decode()

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            made: dict[str, str] = {}
            for line in headers.getlist("set-cookie"):
                made |= cookie_parser(line.partition(";")[0])
            said = get_cookie_with_chunks(lambda name: signed(made, name), USER_COOKIE_NAME)
            if said:
                _set(headers, SEAL, _digest(said).decode(), 30 * 24 * 3600)
                if _is_own(wanted):
                    _set(headers, WANTED, f"{_digest(said).decode()} {wanted}", _AT_ONCE)
        await send(message)

    return sealed


def way_in(scope: Scope) -> str:
    """Return the address that begins a log-in, after which one is where one wanted to."""
    wanted = scope.get("raw_path", b"").split(b"?")[0].decode("latin-1")
    if scope["query_string"]:
        wanted += "?" + scope["query_string"].decode("latin-1")
    is_kept = scope.get("method") == "GET" and wanted != "/" and _is_own(wanted)
    return f"{LOG_IN}?{urlencode({'to': wanted})}" if is_kept else LOG_IN


def begin(scope: Scope, address: str) -> Response:
    """Lead to the provider, and keep where to come back to.

    :param scope: of a request for what `way_in` returned
    :param address: of the provider
    """
    wanted = parse_qs(scope["query_string"].decode("latin-1")).get("to", [""])[0]
    answer = RedirectResponse(address, 302)
    _set(answer.headers, WANTED, *((wanted, _PATIENCE) if _is_own(wanted) else ("", 0)))
    return answer


def come_back(scope: Scope, cookies: Mapping[str, str]) -> Response | None:
    """Lead whoever comes from a log-in to where they wanted, once; None where that is here."""
    if scope["type"] != "http" or scope["path"] != "/" or scope["query_string"]:
        return None
    digest, _, wanted = (signed(cookies, WANTED) or b"").decode().partition(" ")
    is_this = hmac.compare_digest(digest.encode(), _digest(logged_in(cookies)))
    if not (is_this and _is_own(wanted)):
        return None
    answer = RedirectResponse(wanted, 303)
    _set(answer.headers, WANTED, "", 0)
    return answer


def _is_own(address: str) -> bool:
    return len(address) <= _LONGEST and _OWN.fullmatch(address) is not None


def _digest(said: bytes) -> bytes:
    return hashlib.sha256(said).hexdigest().encode()


def _set(headers: MutableHeaders, name: str, text: str, seconds: int) -> None:
    value = create_signed_value(get_cookie_secret(), name, text).decode() if text else ""
    headers.append(
        "set-cookie", f"{name}={value}; HttpOnly; Max-Age={seconds}; Path=/; SameSite=Lax"
    )
