"""What the server reads of WebSockets."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from kgdash.serving.resting import Unhurried

#: pieces of a message that has not ended
_MOST_PIECES = 2**10


class UnhurriedWebSocket(Unhurried, WebSocketsSansIOProtocol):
    """WebSockets as uvicorn speaks them, without messages that Streamlit refuses once they came.

    ``longest``: bytes of a message.
    """

    longest: int

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:
        config.ws_max_size = self.longest
        super().__init__(config, *arguments, **named)

    def data_received(self, data: bytes) -> None:
        """Read, unless a message comes before the answer, or in more pieces than anybody sends.

        What asks comes at once; of what is none, such as one with a body, nobody would learn.
        """
        is_early = self.handshake_initiated and not self.handshake_complete
        if not is_early:
            super().data_received(data)
        if is_early or len(self.frames) > _MOST_PIECES or not self.handshake_initiated:
            self.transport.abort()
