"""Values that are equal by definition, though their last bits differ."""

import numpy as np

#: significant ones that are kept
DIGITS = 12


def rounded(values: np.ndarray) -> np.ndarray:
    """Return values to `DIGITS` significant digits, so that equal ones are equal.

    1/2 + 1/12 and 1/3 + 1/4 differ in their last bit.

    :param values: floats of any shape; infinite ones and NaN stay
    :return: float64 of that shape
    """
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(values))))
        found = np.rint(values * scale) / scale
    return np.where(np.isfinite(found) & np.isfinite(scale), found, values)


def excess(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return by how much values exceed others of the same shape, 0 where they are equal."""
    return np.where(rounded(first) == rounded(second), 0.0, first - second)
