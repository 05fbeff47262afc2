"""Which messages of browsers reach Streamlit: what pages need, and no more.

Streamlit lets anybody who is connected clear the caches of all, ask for the state of the folder's
git repository, and install what helps programmers.
"""

import re

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from kgdash.ui.runtime.visitors import server_settings

_OPERATION = "backend_operation_request"

#: kinds of messages that are passed on; of operations, these
NEEDED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})

#: numbers of downloads, as Streamlit makes them
_PLAIN = re.compile(r"[0-9a-f]{0,32}")


class KnownMessages:
    """Middleware of the dashboard's server (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Drop messages of other kinds than `NEEDED`, where a server has settings."""

        async def receive_needed() -> Message:
            while not _is_needed(message := await receive()):
                continue
            return message

        bounded = scope["type"] == "websocket" and server_settings() is not None
        await self._app(scope, receive_needed if bounded else receive, send)


def _is_needed(message: Message) -> bool:
    content = message.get("bytes")
    if message["type"] != "websocket.receive" or not content:
        return True
    try:
        asked = BackMsg.FromString(content)
    except DecodeError:  # Streamlit ends such a connection
        return True
    kind = asked.WhichOneof("type")
    if kind != _OPERATION:
        return kind in NEEDED
    if not _PLAIN.fullmatch(asked.backend_operation_request.deferred_file.file_id):
        return False  # Streamlit would write it to the terminal
    return not {field.name for field, _ in asked.backend_operation_request.ListFields()} - {
        "request_id",
        "session_id",
        *OPERATIONS,
    }
