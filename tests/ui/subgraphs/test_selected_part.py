"""Which facts belong to what was clicked."""

import numpy as np
import pandas as pd
import pytest

from kgdash.ui.graph_view.component import Selection
from kgdash.ui.subgraphs.selected_part import chosen_rows

TRIPLES = pd.DataFrame({"head": [7, 3, 3, 7], "relation": 0, "tail": [3, 7, 3, 5], "relik": 0.5})


@pytest.mark.parametrize(
    ("picked", "rows"),
    [
        (Selection(), [0, 1, 2, 3]),
        (Selection(node=3), [0, 1, 2]),
        (Selection(node=5), [3]),
        (Selection(rows=(1,)), [1]),
        (Selection(rows=(0, 3)), [0, 3]),
    ],
)
def test_chosen_rows(picked, rows):
    np.testing.assert_array_equal(chosen_rows(picked, TRIPLES), rows)
