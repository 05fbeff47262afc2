"""How much visitors may upload together: Streamlit bounds one file, and keeps all in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import get_instance

from kgdash.files.event_log import note
from kgdash.serving.settings import UploadLimits
from kgdash.ui.runtime.visitors import OWNER, server_settings

_PATH = "/_stcore/upload_file/"

#: of what all visits may keep together, the part that one visitor's may
_SHARE = 4

#: seconds without a byte after which an upload ends: it has one of its visitor's turns
_SILENCE = 60.0

#: marks between parts of an upload, which is one: each more costs the loop that answers all
_MOST_MARKS = 4


class UploadBounds:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        #: bytes of uploads that are under way by visitor, and how many of each session
        self._coming: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        #: session -> visitor; "" of nobody in particular
        self._owners: dict[str, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse uploads that go beyond the limits of the server's settings, unread."""
        settings = server_settings()
        puts = scope["type"] == "http" and scope["method"] not in ("DELETE", "OPTIONS")
        if settings is None or not puts or not scope["path"].startswith(_PATH):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        text = headers.get("content-length", "")
        # In parts, more may come than is said.
        if not text.isdecimal() or "transfer-encoding" in headers:
            await PlainTextResponse("Content-Length needed", 411)(scope, receive, send)
            return
        kind, options = parse_options_header(headers.get("content-type"))
        if kind == b"application/x-www-form-urlencoded":  # unquoted by the megabyte
            await PlainTextResponse("expected multipart/form-data", 415)(scope, receive, send)
            return
        boundary = options.get(b"boundary", b"")
        if kind == b"multipart/form-data":
            scope = _as_it_is_read(scope, boundary)
        session, _, file = scope["path"].removeprefix(_PATH).partition("/")
        size, owner = int(text), scope.get(OWNER) or ""
        refused = self._refused(settings.limits, session, owner, size)
        if refused:
            note("refused", reason="upload")
            await PlainTextResponse(refused, 413)(scope, receive, send)
            return
        self._coming[owner] += size
        self._files[session] += 1
        self._owners[session] = owner
        try:
            with suppress(ClientDisconnect):  # nobody waits for an answer, and the log is no place
                await self._app(scope, _in_one_part(receive, boundary), send)
        finally:
            self._coming -= Counter({owner: size})
            self._files -= Counter([session])
            _drop_late(session, file)

    def _refused(self, limits: UploadLimits, session: str, owner: str, size: int) -> str:
        """Say why no more may come, or nothing.

        :param size: bytes of what would come
        """
        kept = dict(get_instance().uploaded_file_mgr.file_storage)  # type: ignore[attr-defined]
        self._owners = {s: who for s, who in self._owners.items() if s in kept or self._files[s]}
        if len(kept.get(session, ())) + self._files[session] >= limits.files:
            return f"at most {limits.files} files at a time"
        held = self._coming.copy()
        for each, files in kept.items():
            held[self._owners.get(each, "")] += sum(len(f.data) for f in list(files.values()))
        total, own = limits.total_mib, max(limits.mib, limits.total_mib // _SHARE)
        if owner and held[owner] + size > own * 2**20:
            return f"all your visits together may keep {own} MiB here: close tabs with uploads"
        if held.total() + size > total * 2**20:
            return "the server holds all the files that it may"
        return ""


def _as_it_is_read(scope: Scope, boundary: bytes) -> Scope:
    """Say nothing of a form but what parts it: a charset may take minutes, as punycode does."""
    kind = b'multipart/form-data; boundary="%s"' % boundary.replace(b"\\", b"").replace(b'"', b"")
    kept = [pair for pair in scope["headers"] if pair[0].lower() != b"content-type"]
    return {**scope, "headers": [*kept, (b"content-type", kind)]}


def _in_one_part(receive: Receive, boundary: bytes) -> Receive:
    """Receive a body, but none that is taken apart again and again, or does not come."""
    mark, seen = b"--" + boundary, 0

    async def receive_part() -> Message:
        nonlocal seen
        try:
            async with asyncio.timeout(_SILENCE):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the file did not come") from None
        seen += message.get("body", b"").count(mark)
        if seen > _MOST_MARKS:
            raise HTTPException(400, "one file at a time")
        return message

    return receive_part


def _drop_late(session: str, file: str) -> None:
    """Forget a file whose session ended while it came: nobody else would."""
    runtime = get_instance()
    if not runtime.is_active_session(session):
        runtime.uploaded_file_mgr.remove_file(session, file)  # type: ignore[attr-defined]
