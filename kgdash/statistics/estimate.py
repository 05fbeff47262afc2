"""A value with its interval, and how both are written for people to read."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
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
        return f"{value:#.3g}".removesuffix(".")
    return f"{value:,.0f}" if 100 <= abs(value) < 1e5 else _scientific(value)


def numbers(values: Sequence[float]) -> list[str]:
    """Write figures that differ as `number` does, or to as many digits as tell them apart."""
    texts = [number(value) for value in values]
    for digits in range(4, 18):
        if len(set(texts)) == len(texts):
            break
        texts = [f"{value:.{digits}g}" for value in values]
    return texts


def in_full(value: float, taken: Collection[str] = ()) -> str:
    """Write a finite figure to as many digits as it has, and not as another is written."""
    texts = (number(value), repr(value), f"{value:#.17g}")
    exact = (text for text in texts if float(text.replace(",", "")) == value)
    return next(text for text in exact if text not in taken)


def percent(share: float, decimals: int = 0) -> str:
    """Write a share or probability: "84%", near 0 and 1 with a decimal ("0.3%"); "–" for NaN.

    :param decimals: digits after the point that matter throughout
    :return: "100%" for all alone, and "0%" for nothing alone
    """
    if math.isnan(share):
        return "–"
    if share in (0, 1):
        return f"{share:.0%}"
    shown = max(decimals, 1)
    if 0 < min(share, 1 - share) < 10 ** -(shown + 2):
        least = 10**-shown
        return f"< {least:g}%" if share < 0.5 else f"> {100 - least:g}%"
    if decimals:
        return f"{share:.{decimals}%}"
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


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
