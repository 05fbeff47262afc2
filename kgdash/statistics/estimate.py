"""A value with its interval, and how both are written for people to read."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval: all NaN for n = 0, the ends NaN where there is no interval."""

    value: float
    low: float
    high: float
    n: int

    @property
    def ends(self) -> str:
        """Write the interval: "0.738 to 0.770"; empty where there is none."""
        if math.isnan(self.low) or math.isnan(self.high):
            return ""
        return f"{number(self.low)} to {number(self.high)}"

    def is_above(self, other: Estimate) -> bool:
        """Tell whether this interval lies wholly above the other; False without intervals."""
        return self.low > other.high


def number(value: float) -> str:
    """Write a figure to three digits so that both 0.830 and 0.0000123 can be read; "–" for NaN."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or 1e-3 <= abs(value) < 100:
        return f"{value:#.3g}"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e5 else _scientific(value)


def percent(share: float) -> str:
    """Write a share or probability: "84%", near 0 and 1 with a decimal ("0.3%"); "–" for NaN."""
    if math.isnan(share):
        return "–"
    if 0 < min(share, 1 - share) < 1e-3:
        return "< 0.1%" if share < 0.5 else "> 99.9%"
    decimals = int(min(share, 1 - share) < 0.0995)
    return f"{100 * share:.{decimals}f}".removesuffix(".0") + "%"


def whole_or_half(value: float) -> str:
    """Write a rank or a median of counts: "4", "1,203.5"; "–" for NaN."""
    return "–" if math.isnan(value) else f"{value:,.1f}".removesuffix(".0")


def p_value(value: float) -> str:
    """Write a p-value as `number` does; one that floats can not hold is no zero."""
    return "< 1e-300" if value < 1e-300 else number(value)


def with_interval(estimate: Estimate) -> str:
    """Write a value with its interval: "0.754 (0.738 to 0.770)"."""
    value = number(estimate.value)
    return f"{value} ({estimate.ends})" if estimate.ends else value


def duration(hours: float) -> str:
    """Write a time as people say it: "5 minutes", "3 hours", "12 days"; less than one as one."""
    sizes = ((48, 24, "days"), (2, 1, "hours"), (0, 1 / 60, "minutes"))
    size, unit = next((size, unit) for least, size, unit in sizes if hours >= least)
    count = max(1, round(hours / size))
    return f"{count:,} {unit if count > 1 else unit.removesuffix('s')}"


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
