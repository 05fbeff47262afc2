"""Pages that the server answers by itself, before any of the dashboard runs."""

from math import inf

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kgdash.serving.let_in import turn_of
from kgdash.serving.pace import Full, Gone, Turns

#: in the colours of the dashboard's themes
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>kgdash</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>
body {{ font: 16px/1.5 system-ui; max-width: 36rem; margin: 4rem auto; padding: 0 1rem;
  background: light-dark(#fff, #12171d); color: light-dark(#1c2733, #e8edf2) }}
a {{ color: light-dark(#1f63b8, #6aa6e8) }}
a.button {{ display: inline-block; padding: .4rem 1rem; border-radius: .5rem; text-decoration: none;
  background: #1f63b8; color: #fff }}
</style>
<h1>{heading}</h1>{body}"""

#: how many are answered at once, seconds of rest after each, and how many wait
_AT_ONCE, _REST, _MOST_WAIT = 8, 0.05, 1_000


def plain_page(heading: str, body: str, status: int = 200) -> HTMLResponse:
    """Build a page without scripts.

    :param heading: text, without marks of HTML
    :param body: HTML
    """
    page = _PAGE.format(heading=heading, body=body)
    return HTMLResponse(page, status, headers={"Cache-Control": "no-store"})


#: what they read for whom there is no room to wait
BUSY = plain_page("Busy", "<p>Too many are waiting. Try again in a minute.</p>", 503)


class InTurn:
    """Answers of the server's own, few at once: without it they fill the line of all requests."""

    def __init__(self) -> None:
        self._turns = Turns(_AT_ONCE, _REST, inf, _MOST_WAIT)

    async def give(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for a turn, and answer; `BUSY` where too many wait. A WebSocket is not taken."""
        try:
            async with turn_of(scope, self._turns):
                pass  # who reads may put off the rest
        except Full:
            answer = BUSY
        except Gone:
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)
