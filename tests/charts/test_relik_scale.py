"""The colour scale of ReliK: the same value has the same colour in all drawings of a run."""

import numpy as np
import pytest

from kgdash.charts.relik_scale import ReliKScale, relik_scale
from kgdash.charts.style import RELIABILITY_SCALE


def test_ends_are_percentiles_of_the_run():
    values = np.arange(1, 102) / 101
    scale = relik_scale(values, "all")
    assert [scale.low, scale.median, scale.high] == pytest.approx([2 / 101, 51 / 101, 100 / 101])


def test_the_median_is_in_the_middle_and_either_side_is_logarithmic():
    scale = ReliKScale(1e-4, 1e-2, 1e-1)
    relik = [1e-6, 1e-4, 1e-3, 1e-2, 10**-1.5, 1e-1, 1, np.nan]
    np.testing.assert_allclose(scale.place(relik), [0, 0, 0.25, 0.5, 0.75, 1, 1, np.nan])


def test_the_middle_is_grey_low_orange_high_blue():
    scale = ReliKScale(1e-4, 1e-2, 1e-1)
    stops = [stop for _, stop in RELIABILITY_SCALE]
    for value, stop in ((1e-4, stops[0]), (1e-2, stops[2]), (1e-1, stops[4])):
        channels = ", ".join(str(int(stop[i : i + 2], 16)) for i in (1, 3, 5))
        assert scale.colour(value) == f"rgb({channels})"


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.3] * 5, [0.1, 1, 1, 1, 1]])
def test_equal_values_still_make_a_scale(values):
    scale = relik_scale(values)
    assert scale.low < scale.median < scale.high
    assert scale.place(scale.median) == 0.5


def test_ticks_name_the_median_and_lie_where_their_values_do():
    places, texts = ReliKScale(1e-4, 2e-3, 1).ticks()
    assert dict(zip(texts, places, strict=True))["median 0.00200"] == 0.5
    named = {text: place for text, place in zip(texts, places, strict=True) if "median" not in text}
    scale = ReliKScale(1e-4, 2e-3, 1)
    assert len(named) >= 3
    for text, place in named.items():
        assert scale.place(float(text)) == pytest.approx(place)
