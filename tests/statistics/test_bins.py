import numpy as np
import pytest

from kgdash.statistics.bins import bin_edges


@pytest.mark.parametrize("values", [[0.25, 3.0, 1.0], [-7.0, -7.0], [1e-30, 2e-30], [0.0], []])
def test_bins_are_those_of_numpy(values):
    expected = np.histogram_bin_edges(np.array(values), 60)
    np.testing.assert_array_equal(bin_edges(np.array(values), 60), expected)


@pytest.mark.parametrize("bins", [40, 4096])
@pytest.mark.parametrize("low", [1e13, -8e24, 3e38])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_values_that_are_all_but_equal_have_bins_too(low, bins, dtype):
    low = dtype(low)
    for values in (np.array([low]), np.array([low, np.nextafter(low, dtype(np.inf))])):
        edges = bin_edges(values, bins)
        assert len(edges) == bins + 1
        assert (np.diff(edges) > 0).all(), "NumPy refuses such edges, and the engine divides by 0"
        assert np.histogram(values.astype(np.float64), edges)[0].sum() == len(values)
