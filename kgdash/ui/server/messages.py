"""Which messages of browsers reach Streamlit: what pages need, no more, and not too many.

Streamlit lets anybody who is connected clear the caches of all, ask for the state of the folder's
git repository, and install what helps programmers; each message may start a thread that runs the
page.
"""

import asyncio
import math
import re
from collections import Counter

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

from kgdash.files.event_log import note
from kgdash.serving.pace import Pace
from kgdash.ui.runtime.page_turns import have_threads
from kgdash.ui.runtime.visitors import (
    IS_IN,
    LOG_IN_BUTTON,
    MOST_CHOSEN,
    OWNER,
    server_settings,
)

_OPERATION = "backend_operation_request"

#: kinds of messages that are passed on; of operations, these
NEEDED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})

#: of those, what gives nothing away to whose log-in has ended
_OF_PAGES = NEEDED - {"file_urls_request"}

#: connections of one visitor, each a tab
MOST_TABS = 32

#: messages and new tabs of one visitor, or of a tab where nobody logs in, that are passed on at
#: once, and a second after that
_BURST, _PER_SECOND = 16, 4.0

#: of those at once, what is kept for clicks: looks of pages for progress, by themselves, are left
#: out then, and count as so much of a message
_FOR_CLICKS, _LEFT_OUT = 8, 0.02

#: bytes of a message that count as one message more
_COUNTS_AS_ONE = 2**16

#: characters of an address in a message, as many as one of HTTP may have
_LONGEST = 2**16

#: fields, entries of lists and the like that a message may hold, those of JSON (what is selected in
#: charts and tables) among them: one of two bytes takes fifty times that, and its session keeps it.
#: And how many count as one message more: all of them keep the loop for a tenth of a second
_MOST_PARTS, _PARTS_AS_ONE = 20_000, 1_000

#: kinds of values that no widget here has: of bytes any widget would make JSON, too
_OF_NO_WIDGET = frozenset({"bytes_value", "arrow_value", "chat_input_value"})

#: files of which a message may ask where they go: the answer holds two addresses of each
_MOST_FILES = 100

#: numbers of downloads, and of widgets with our name for each, as Streamlit makes them: what else
#: comes it writes to the log
_PLAIN = re.compile(r"[0-9a-f]{0,32}")
_WIDGET = re.compile(r"\$\$ID-[0-9a-f]{1,128}-.{0,4096}", re.DOTALL)


class KnownMessages:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._tabs: Counter[str] = Counter()
        self._paces: dict[str, Pace] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Drop messages of other kinds than `NEEDED`, where a server has settings.

        What one visitor's tabs send faster than people click waits, and so does one tab more.
        Who has too many tabs gets no further one. After a log-in's end a tab is offered another one
        and gets nothing else.
        """
        if scope["type"] != "websocket" or server_settings() is None:
            await self._app(scope, receive, send)
            return
        have_threads(asyncio.get_running_loop())
        owner = scope.get(OWNER)
        pace = Pace(_BURST, _PER_SECOND)
        if owner:
            pace = self._paces.setdefault(owner, pace)
        if owner and self._tabs[owner] >= MOST_TABS:
            note("refused", reason="tabs")
            await send({"type": "websocket.close", "code": 1008})
            return

        async def receive_needed() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                if message.get("text") is not None:  # no browser sends it; to the log, a traceback
                    await send({"type": "websocket.close", "code": 1003})
                    return {"type": "websocket.disconnect", "code": 1003}
                content = message.get("bytes") or b""
                if _is_look(content) and pace.left() < _FOR_CLICKS:
                    await pace.keep(_LEFT_OUT + len(content) / _COUNTS_AS_ONE)
                    continue
                await pace.keep(1 + len(content) // _COUNTS_AS_ONE)
                asked = _asked(message)
                if asked is None:
                    return message
                parts = _parts(asked)
                if many := min(parts, _MOST_PARTS) // _PARTS_AS_ONE:
                    await pace.keep(many)
                if parts > _MOST_PARTS or not _is_needed(asked):
                    continue
                if scope.get(IS_IN, lambda: True)():
                    return message
                if _is_of_page(asked):
                    return {**message, "bytes": _without_buttons(asked)}

        opened = Counter([owner or ""])
        self._tabs += opened
        try:
            await pace.keep(1)
            await self._app(scope, receive_needed, send)
        finally:
            self._tabs -= opened


def _is_of_page(asked: BackMsg) -> bool:
    """Tell whether the whole page is asked for, which asks itself who comes, or nothing at all."""
    kind = asked.WhichOneof("type")
    return kind in _OF_PAGES and not asked.rerun_script.fragment_id


def _without_buttons(asked: BackMsg) -> bytes:
    """Leave out what a page was set to: Streamlit does what a button asks before the page's run."""
    if asked.WhichOneof("type") != "rerun_script":  # to touch it would make it one
        return asked.SerializeToString()
    states = asked.rerun_script.widget_states.widgets
    kept = [state for state in states if state.id.endswith(f"-{LOG_IN_BUTTON}")]
    del states[:]
    states.extend(kept)
    return asked.SerializeToString()


def _is_look(content: bytes) -> bool:
    """Tell whether a page sent a message by itself, to show how far something is."""
    if len(content) >= _COUNTS_AS_ONE:
        return False
    try:
        return BackMsg.FromString(content).rerun_script.is_auto_rerun
    except DecodeError:
        return False


def _asked(message: Message) -> BackMsg | None:
    """Return what a message asks for; None where Streamlit ends the connection of such ones."""
    content = message.get("bytes")
    if not content or len(content) > get_max_widget_state_size_bytes():
        return None
    try:
        return BackMsg.FromString(content)
    except DecodeError:
        return None


def _is_needed(asked: BackMsg) -> bool:
    kind = asked.WhichOneof("type")
    if len(asked.rerun_script.query_string) > _LONGEST:
        return False
    if len(asked.file_urls_request.file_names) > _MOST_FILES:
        return False
    if not all(map(_is_of_widget, asked.rerun_script.widget_states.widgets)):
        return False
    if kind != _OPERATION:
        return kind in NEEDED
    if not _PLAIN.fullmatch(asked.backend_operation_request.deferred_file.file_id):
        return False
    return not {field.name for field, _ in asked.backend_operation_request.ListFields()} - {
        "request_id",
        "session_id",
        *OPERATIONS,
    }


def _is_of_widget(state: WidgetState) -> bool:
    """Tell whether a widget's state is one that a browser has: its files are there once each."""
    files = [each.file_id for each in state.file_uploader_state_value.uploaded_file_info]
    few = len(state.string_array_value.data) <= MOST_CHOSEN and len(set(files)) == len(files)
    return few and bool(_WIDGET.fullmatch(state.id))


def _parts(asked: BackMsg) -> float:
    """Count a message's parts, as far as `_MOST_PARTS`; values of no widget are beyond all."""
    pending, parts = [asked], 0
    while pending and parts <= _MOST_PARTS:
        for field, value in pending.pop().ListFields():
            parts += len(value) if field.is_repeated else 1
            if field.name in _OF_NO_WIDGET:
                return math.inf
            if isinstance(value, str):
                parts += _parts_of_json(value)
            if field.message_type is not None:
                pending += value if field.is_repeated else [value]
    return parts


def _parts_of_json(text: str) -> int:
    """Count at least the objects, lists and their items if a text is JSON of these."""
    if text.lstrip()[:1] not in ("{", "["):
        return 0
    return sum(map(text.count, "{[,"))
