"""What a chart says, in a sentence with its values: the text for those who do not see it.

Each figure carries one, from `kgdash.charts.style.finish`; what shows or writes the figure takes it
from there by `message_of`.
"""

import re
from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from kgdash.files.html import escape
from kgdash.statistics.estimate import number

#: values that are named one by one; of more, the ends and the median
_LISTED = 6

#: characters that XML can not hold; a browser leaves them in what it draws
_NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def with_message(figure: go.Figure, message: str) -> go.Figure:
    """Give a figure its text, plain, and return it."""
    return figure.update_layout(meta={"message": message})


def message_of(figure: go.Figure) -> str:
    """Return a figure's text; empty if it has none."""
    meta = figure.layout.meta
    return str(meta.get("message", "")) if isinstance(meta, dict) else ""


def described_svg(content: bytes, message: str) -> bytes:
    """Put a message into an SVG file, where screen readers look for it."""
    content = _NO_XML.sub(b"?", content)
    start = content.index(b">", content.index(b"<svg")) + 1
    if content[:start].endswith(b"/>"):  # nothing is drawn
        return content
    return content[:start] + f"<desc>{escape(message)}</desc>".encode() + content[start:]


def of_each(
    names: Iterable[str], values: ArrayLike, low: ArrayLike = (), high: ArrayLike = ()
) -> str:
    """Name values, with intervals if there are some; of more than six, the ends and the median.

    :param names: of the values, whose shape is ``(n,)``; NaN is left out
    :param low: the lower ends of intervals, shape ``(n,)``, NaN for none
    :param high: the upper ends, likewise
    """
    counts = np.issubdtype(np.asarray(values).dtype, np.integer)
    worth = np.asarray(values, dtype=float)
    ends = [np.asarray(each, dtype=float) for each in (low, high)]
    texts = [
        f"{name} {f'{value:,.0f}' if counts else number(value)}"
        for name, value in zip(names, worth, strict=True)
    ]
    for place in range(len(ends[0])):
        if np.isfinite([end[place] for end in ends]).all():
            texts[place] += f" ({number(ends[0][place])} to {number(ends[1][place])})"
    there = np.flatnonzero(np.isfinite(worth))
    if len(there) <= _LISTED:
        return ", ".join(texts[place] for place in there)
    order = there[np.argsort(-worth[there], kind="stable")]
    return (
        f"highest {texts[order[0]]}, then {texts[order[1]]}; lowest {texts[order[-1]]}; median "
        f"{number(float(np.median(worth[there])))} of {len(there):,}"
    )


def by_halves(x_name: str, x: ArrayLike, y_name: str, y: ArrayLike) -> str:
    """Say how y goes with x: its median where x is lower, and where it is higher.

    Points of equal x are in one half, which so may be the larger one; where all are equal, in one.

    :param x: shape ``(n,)``, finite
    :param y: likewise
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(xs) < 2:
        return f"{x_name} {number(xs[0])}, {y_name} {number(ys[0])}" if len(xs) else "no point"
    values, counts = np.unique(xs, return_counts=True)
    of_y = f"{y_name} from {number(ys.min())} to {number(ys.max())}"
    if len(values) == 1:
        middle = number(float(np.median(ys)))
        return f"{len(xs):,} points; {x_name} {number(values[0])}, median {y_name} {middle}. {of_y}"
    below = np.cumsum(counts)[:-1]
    is_upper = xs > values[np.argmin(np.abs(2 * below - len(xs)))]
    lower, upper = (number(float(np.median(ys[part]))) for part in (~is_upper, is_upper))
    return (
        f"{len(xs):,} points; median {y_name} {lower} in the half with lower {x_name}, {upper} in "
        f"the other. {x_name} from {number(values[0])} to {number(values[-1])}, {of_y}"
    )


def along(name: str, x_name: str, x: ArrayLike, y: ArrayLike) -> str:
    """Say how a line runs: where it begins and ends, and its least and greatest value.

    :param x: shape ``(n,)``, ascending, n ≥ 1
    :param y: likewise
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    ends = f"{name} from {number(ys[0])} at {x_name} {xs[0]:,.6g}"
    ends += f" to {number(ys[-1])} at {xs[-1]:,.6g}"
    low, high = float(np.nanmin(ys)), float(np.nanmax(ys))
    inside = {low, high} <= {float(ys[0]), float(ys[-1])}
    return ends if inside else f"{ends}, between {number(low)} and {number(high)}"


def bulk(name: str, left: ArrayLike, right: ArrayLike, counts: ArrayLike) -> str:
    """Say where half of what a histogram counts lies.

    :param left: of each bin, shape ``(n,)``, ascending
    :param right: likewise
    :param counts: in each bin
    """
    sizes = np.asarray(counts, dtype=float)
    total = sizes.sum()
    if not total:
        return f"no {name}"
    first, last = np.searchsorted(sizes.cumsum(), [0.25 * total, 0.75 * total])
    low, high = np.asarray(left, dtype=float)[first], np.asarray(right, dtype=float)[last]
    return f"half of {total:,.0f} {name} lie between {number(low)} and {number(high)}"
