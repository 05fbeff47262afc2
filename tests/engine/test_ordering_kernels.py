"""The counting sort against NumPy's stable one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgdash.engine.ordering_kernels import stable_order


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(7, 9))
def test_stable_order(keys, size):
    keys = np.array(keys, dtype=np.int64)
    assert stable_order(keys, size).tolist() == np.argsort(keys, kind="stable").tolist()
