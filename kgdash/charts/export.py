"""Plotly figures as files: HTML that works offline, SVG, PNG and PDF, on a background of their own.

HTML holds plotly.js and needs nothing else. The others are drawn by a Chromium on this machine,
through Kaleido; nothing is asked of any other machine.
"""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from kgdash.charts.message import described_svg, message_of
from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.files.chromium import browser_path, browser_that_stays_here
from kgdash.files.extensions import alternatives, check_extension
from kgdash.files.html import escape

#: extension -> MIME type
FIGURE_TYPES = {
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
}

#: seconds; a cold Chromium on a busy machine takes tens of them
_PATIENCE = 90

_BACKGROUNDS = {False: ("#ffffff", "plotly_white"), True: ("#111418", "plotly_dark")}
_TEXT = {False: "#1b1f24", True: "#e6e9ed"}

#: pixels: of a figure that says nothing of its height, and of a line of text under one
_HEIGHT, _LINE = 360, 24

#: pixels of a side, beyond which a browser draws nothing, and in all (A1 at 300 dpi), and points:
#: kgdash and the browser stay below 2 GiB
_MOST_SIDE, _MOST_PIXELS, _MOST_POINTS = 2**16 - 1, 70_000_000, 60_000
#: what a file of each format that a browser draws begins with
_BEGINNINGS = {"svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}

#: one browser at a time
_drawing = Lock()

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 0; padding: 12px; background: {background}; }}</style></head>
<body>{chart}</body>
</html>
"""


@dataclass(frozen=True)
class FigureSize:
    """How large a figure is drawn.

    ``width`` in pixels (CSS pixels of the SVG), of HTML the window's; ``height`` likewise, None for
    the figure's own; ``scale`` of PNG: pixels of the file per pixel.

    :raises KgdashError: if one is not above 0, or a side above 65,535
    """

    width: int = 900
    height: int | None = None
    scale: float = 2.0

    def __post_init__(self) -> None:
        sides = (self.width, 1 if self.height is None else self.height)
        if not all(1 <= side <= _MOST_SIDE for side in sides) or not self.scale > 0:
            raise KgdashError(
                f"expected sizes above 0, sides of at most {_MOST_SIDE:,} pixels; "
                f"found {self.width} × {self.height}, scale {self.scale:g}"
            )

    def check(self, extension: str, height: float = 1) -> None:
        """Refuse more pixels than a browser can draw, or draws in 2 GiB; HTML has none.

        :param height: of the figure, which counts if the size has none
        :raises KgdashError: naming the bounds
        """
        scale = self.scale if extension == ".png" else 1
        width, height = self.width * scale, (self.height or height) * scale
        is_over = max(width, height) > _MOST_SIDE or width * height > _MOST_PIXELS
        if is_over and extension != ".html":
            raise KgdashError(
                f"expected at most {_MOST_PIXELS:,} pixels, {_MOST_SIDE:,} a side; found "
                f"{width:,.9g} × {height:,.9g}: take a smaller width, height or scale, or .html"
            )


def check_figure_file(out: Path, size: FigureSize | None = None) -> None:
    """Refuse a file that could not be written, before anything is computed for it.

    :raises KgdashError: if its extension names no format, no browser is there, or it is too large
    """
    check_extension(out, FIGURE_TYPES)
    (size or FigureSize()).check(out.suffix)
    if out.suffix != ".html":
        browser_path()


def figure_bytes(
    figure: go.Figure,
    extension: str,
    title: str = "chart",
    dark: bool = False,
    size: FigureSize | None = None,
    caption: str = "",
) -> bytes:
    """Draw a figure on a light or dark background as the content of a file.

    HTML and SVG hold the figure's message for those who do not see it.

    :param extension: one of `FIGURE_TYPES`
    :param caption: a small line below: what it is of; plain
    :raises KgdashError: if the format is another, there is no browser to draw it, pixels or points
        are too many for one, or it fails
    """
    if extension not in FIGURE_TYPES:
        raise KgdashError(f"expected one of {alternatives(FIGURE_TYPES)}; found {extension!r}")
    size = size or FigureSize()
    drawn = on_background(figure, dark)
    if caption:
        _write_below(drawn, caption)
    if extension == ".html":
        return _html(drawn, title, _BACKGROUNDS[dark][0], size.height).encode()
    height = size.height or drawn.layout.height or _HEIGHT
    size.check(extension, height)
    _check_points(drawn)
    scale = size.scale if extension == ".png" else 1
    options = {"format": extension[1:], "width": size.width, "height": height, "scale": scale}
    content = _drawn(drawn, options)
    return described_svg(content, message_of(figure)) if extension == ".svg" else content


def write_figure(
    figure: go.Figure,
    out: Path,
    title: str | None = None,
    dark: bool = False,
    size: FigureSize | None = None,
) -> None:
    """Write a figure to a file, by the extension; it appears whole or not at all.

    :param title: as `figure_bytes` takes it, like the others; default: the file's name
    :raises KgdashError: as `figure_bytes`, or if the file can not be written
    """
    content = figure_bytes(figure, out.suffix, title or out.stem, dark, size)
    write_atomically(out, lambda part: part.write_bytes(content))


def on_background(figure: go.Figure, dark: bool = False) -> go.Figure:
    """Return a copy with a background and fonts that can be read outside of a page."""
    colour, template = _BACKGROUNDS[dark]
    # Plotly's own way takes the traces' types out for a moment: sessions share figures.
    copy = go.Figure([trace.to_plotly_json() for trace in figure.data], figure.layout)
    copy.update_layout(
        template=template,
        paper_bgcolor=colour,
        plot_bgcolor=colour,
        font={"family": "Arial, Helvetica, DejaVu Sans, sans-serif", "color": _TEXT[dark]},
    )
    edge = copy.layout.margin
    copy.update_layout(margin={side: max(edge[side] or 0, 16) for side in "lrtb"})
    return copy


def _write_below(figure: go.Figure, caption: str) -> None:
    """Make room under a figure and write a line there."""
    edge = figure.layout.margin
    figure.update_layout(
        height=(figure.layout.height or _HEIGHT) + _LINE,
        margin={"b": (edge.b or 0) + _LINE},
        title={
            "text": escape(caption),
            "font": {"size": 11},
            "x": 0,
            "y": 0,
            "yanchor": "bottom",
            "pad": {"l": 16, "b": 10},
        },
    )


def figure_html(figure: go.Figure, name: str, library: bool = False) -> str:
    """Return a figure as a part of an HTML page; the same figure gives the same text.

    :param name: the element's id: letters, digits, "-"
    :param library: put plotly.js in front, once per page
    """
    chart = pio.to_html(
        figure,
        config={
            "displaylogo": False,
            "responsive": True,
            "toImageButtonOptions": {"filename": name, "format": "svg"},
        },
        include_plotlyjs=library,
        full_html=False,
        div_id=name,
        default_height=f"{figure.layout.height or _HEIGHT}px",
    )
    return f'<div role="figure" aria-label="{escape(message_of(figure))}">{chart}</div>'


def _html(figure: go.Figure, title: str, background: str, height: int | None) -> str:
    if height is not None:
        figure.update_layout(height=height)
    chart = figure_html(figure, "chart", library=True)
    return _PAGE.format(title=escape(title), background=background, chart=chart)


def _check_points(figure: go.Figure) -> None:
    axes = ([trace[axis] for axis in "xy" if axis in trace] for trace in figure.data)
    points = sum(max((len(a) for a in each if a is not None), default=0) for each in axes)
    if points > _MOST_POINTS:
        raise KgdashError(
            f"expected at most {_MOST_POINTS:,} points; found {points:,}: draw fewer, or .html"
        )


def _drawn(figure: go.Figure, options: dict[str, Any]) -> bytes:
    import kaleido

    # Without this, Kaleido's page fetches MathJax from outside.
    browser = browser_path()
    start = browser_that_stays_here()
    settings = {"mathjax": False, "path": browser, "timeout": _PATIENCE, "browser_cls": start}
    try:
        with _drawing:
            content = kaleido.calc_fig_sync(figure.to_dict(), opts=options, kopts=settings)
        if not content.startswith(_BEGINNINGS[options["format"]]):
            raise ValueError(f"no {options['format'].upper()} came: {content[:20]!r}")
        return content
    except Exception as error:
        # Whatever fails between here and the browser comes as an exception of some library's own.
        raise KgdashError(
            f"{browser} could not draw the figure ({str(error) or type(error).__name__}); "
            ".html needs no browser"
        ) from error
