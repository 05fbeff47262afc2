"""How much visitors may upload together: Streamlit bounds one file, and keeps all in memory."""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import get_instance

from kgdash.files.event_log import note
from kgdash.serving.settings import UploadLimits
from kgdash.ui.runtime.visitors import server_settings

_PATH = "/_stcore/upload_file/"


class UploadBounds:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        #: bytes of uploads that are under way, and how many of each session
        self._coming = 0
        self._files: Counter[str] = Counter()

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
        session, _, file = scope["path"].removeprefix(_PATH).partition("/")
        size = int(text)
        refused = _refused(settings.limits, session, self._files[session], self._coming + size)
        if refused:
            note("refused", reason="upload")
            await PlainTextResponse(refused, 413)(scope, receive, send)
            return
        self._coming += size
        self._files[session] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= size
            self._files -= Counter([session])
            _drop_late(session, file)


def _drop_late(session: str, file: str) -> None:
    """Forget a file whose session ended while it came: nobody else would."""
    runtime = get_instance()
    if not runtime.is_active_session(session):
        runtime.uploaded_file_mgr.remove_file(session, file)  # type: ignore[attr-defined]


def _refused(limits: UploadLimits, session: str, files: int, coming: int) -> str:
    """Say why no more may come, or nothing.

    :param files: of the session that are under way
    :param coming: bytes of what is under way, this one included
    """
    kept = dict(get_instance().uploaded_file_mgr.file_storage)  # type: ignore[attr-defined]
    if len(kept.get(session, ())) + files >= limits.files:
        return f"at most {limits.files} files at a time"
    held = sum(len(file.data) for files in kept.values() for file in list(files.values()))
    return (
        "the server holds all the files that it may"
        if held + coming > limits.total_mib * 2**20
        else ""
    )
