"""A visitor of the dashboard without a browser: Streamlit's protocol over a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlparse

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

#: seconds after which a page that does not come is a failure
PATIENCE = 300.0

#: bytes of the largest message: a chart of all triples
_LARGEST = 2**28


@dataclass
class Answer:
    """What a run of a page sent: seconds until its end, texts, and what went wrong."""

    seconds: float = 0.0
    messages: list[bytes] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def shows(self, text: str) -> bool:
        """Tell whether a text stands in any element."""
        return any(text.encode() in message for message in self.messages)

    @property
    def size(self) -> int:
        """Return the bytes of all messages."""
        return sum(map(len, self.messages))


class Visitor:
    """One tab: opens pages by address and sets widgets, as the front end does."""

    def __init__(self, address: str) -> None:
        """Connect with `open`.

        :param address: ``http://localhost:8501``
        """
        self._address = address
        self._socket: ClientConnection | None = None
        self._page, self._query = "", ""
        #: fragment -> seconds between the runs that it asks for
        self._repeats: dict[str, float] = {}
        #: key of a widget -> its id
        self.widgets: dict[str, str] = {}

    async def connect(self) -> None:
        """Open the tab."""
        place = urlparse(self._address)
        self._socket = await connect(
            f"ws://{place.netloc}/_stcore/stream",
            origin=self._address,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=_LARGEST,
            open_timeout=PATIENCE,
            ping_interval=None,
        )

    async def close(self) -> None:
        """Close the tab."""
        if self._socket is not None:
            await self._socket.close()

    async def visit(self, page: str, **choices: object) -> Answer:
        """Open a page by its address and wait for its end."""
        self._page, self._query = page, urlencode(choices)
        self.widgets = {}
        return await self._run(BackMsg())

    async def set_number(self, key: str, value: int) -> Answer:
        """Set a number field, as its arrows do."""
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.double_value = self.widgets[key], value
        return await self._run(message)

    async def stay(self, seconds: float) -> list[Answer]:
        """Read the page; fragments that repeat do so."""
        end, answers = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            if not self._repeats:
                await self._listen(left)
                continue
            fragment, every = next(iter(self._repeats.items()))
            await asyncio.sleep(min(every, left))
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            answers.append(await self._run(message))
        return answers

    async def _run(self, message: BackMsg) -> Answer:
        assert self._socket is not None
        asked = message.rerun_script
        asked.page_name, asked.query_string = self._page, self._query
        start, answer = time.monotonic(), Answer()
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            while not self._take(await self._socket.recv(), answer):
                pass
        answer.seconds = time.monotonic() - start
        return answer

    async def _listen(self, seconds: float) -> None:
        assert self._socket is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    self._take(await self._socket.recv(), Answer())

    def _take(self, data: bytes | str, answer: Answer) -> bool:
        """Take in a message; return whether it ends the run of a page or of a fragment."""
        assert isinstance(data, bytes)
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "auto_rerun":
            self._repeats[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._repeats.pop(fragment, None)
        elif kind == "new_session" and not message.metadata.run.fragment_ids:
            # A whole run, which a fragment may have asked for, forgets the fragments before it.
            self._repeats = {}
        elif kind == "script_finished":
            early = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
            return message.script_finished != early
        elif kind == "delta":
            answer.messages.append(data)
            self._look_at(message, answer)
        return False

    def _look_at(self, message: ForwardMsg, answer: Answer) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            answer.exceptions.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            answer.refusals.append(element.alert.body)
        elif kind is not None and (name := getattr(getattr(element, kind), "id", "")):
            self.widgets[name.rsplit("-", 1)[-1]] = name
