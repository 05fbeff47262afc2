"""One colour scale of ReliK for a run, the same in all its drawings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kgdash.charts.style import RELIABILITY_SCALE, log_ticks, reliability_colour
from kgdash.statistics.estimate import number

#: the ends of a scale, as shares of the triples below
_ENDS = (0.01, 0.5, 0.99)

#: ticks nearer to the median, in lengths of the scale, run into its text on a phone
_MEDIAN = 0.17

#: two scales' ends closer than this, as a factor, would be one colour
_LEAST = 1.01


@dataclass(frozen=True)
class ReliKScale:
    """Where a ReliK lies among a run's: 0 at ``low`` and below, ½ at ``median``, 1 from ``high``.

    On either side of the median the scale is logarithmic. ``low`` < ``median`` < ``high``, in
    (0, 1] but for the room that is made where two of them coincide; ``source`` says of which
    triples they are percentiles 1, 50 and 99.
    """

    low: float
    median: float
    high: float
    source: str = ""

    def place(self, relik: ArrayLike) -> np.ndarray:
        """Return where values in (0, 1] lie, in [0, 1]; NaN stays NaN."""
        ends = np.log10([self.low, self.median, self.high])
        return np.interp(np.log10(relik), ends, [0.0, 0.5, 1.0])

    def colour(self, relik: float) -> str:
        """Return the colour of a value as CSS; see `RELIABILITY_SCALE`."""
        return reliability_colour(float(self.place(relik)))

    def ticks(self) -> tuple[list[float], list[str]]:
        """Choose ticks: places on the scale, and their texts; the median is among them."""
        values, texts = log_ticks(self.low, self.high)
        places = self.place(values).tolist()
        kept = [
            (place, text)
            for place, text in zip(places, texts, strict=True)
            if abs(place - 0.5) > _MEDIAN
        ]
        kept.append((0.5, f"median {number(self.median)}"))
        return [place for place, _ in kept], [text for _, text in kept]

    def marker(self, relik: ArrayLike, title: str, y: float = -0.02) -> dict[str, Any]:
        """Describe the colours of marks, with the bar that explains them, for Plotly's ``marker``.

        :param relik: shape ``(n,)``
        :param title: of the bar
        :param y: where the bar begins, in heights of the plot
        """
        places, texts = self.ticks()
        return {
            "color": self.place(relik),
            "cmin": 0,
            "cmax": 1,
            "colorscale": RELIABILITY_SCALE,
            "colorbar": {
                "title": {"text": title, "side": "top"},
                "tickvals": places,
                "ticktext": texts,
                "orientation": "h",
                "thickness": 10,
                "len": 0.7,
                "y": y,
                "yanchor": "top",
            },
        }


def relik_scale(relik: ArrayLike, source: str = "") -> ReliKScale:
    """Make the scale of some triples' ReliK: its ends are percentiles 1 and 99.

    :param relik: in (0, 1], at least one
    :param source: which triples they are
    """
    low, median, high = (float(v) for v in np.quantile(np.asarray(relik, dtype=float), _ENDS))
    return ReliKScale(min(low, median / _LEAST), median, max(high, median * _LEAST), source)
