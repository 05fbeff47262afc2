"""Having the browser fetch and compile the script of charts while Streamlit's own starts."""

import re
from contextlib import suppress
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STATIC = Path(streamlit.__file__).with_name("static")

#: what draws Plotly's charts, four megabytes; asked for only once a page shows one
_CHARTS = "PlotlyChart.*.js"

_NAME = re.compile(r'"\./([\w.-]+\.js)"')


def chart_scripts(static: Path = _STATIC) -> list[str]:
    """Return the scripts that charts need and the start page does not name, as it would name them.

    :param static: Streamlit's folder of them; where something is missing there, nothing is returned
    """
    names: list[str] = []
    with suppress(OSError):
        named = (static / "index.html").read_text(encoding="utf-8")
        for script in sorted((static / "static" / "js").glob(_CHARTS)):
            # Imports stand in the first lines, what is loaded on demand comes later.
            text = script.read_text(encoding="utf-8")
            imports = re.match(r"(?:import[^;]*;)*", text)
            names += [script.name, *_NAME.findall(imports[0] if imports else "")]
        return [f"./static/js/{name}" for name in dict.fromkeys(names) if name not in named]
    return []


class Preloading:
    """Middleware of the dashboard's server (ASGI): web pages tell what to fetch beside them."""

    def __init__(self, app: ASGIApp, static: Path = _STATIC) -> None:
        """Look for the scripts once.

        :param static: of `chart_scripts`
        """
        self._app = app
        self._link = ", ".join(f"<{path}>; rel=modulepreload" for path in chart_scripts(static))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the header Link to web pages."""

        async def with_link(message: Message) -> None:
            if message["type"] == "http.response.start" and self._link:
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                # A saved report would have its browser fetch them beside it, where nothing is.
                if is_page and "content-disposition" not in headers:
                    headers.append("Link", self._link)
            await send(message)

        await self._app(scope, receive, with_link)
