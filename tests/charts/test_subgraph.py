"""A subgraph drawn for files and reports."""

import numpy as np
import pandas as pd

from kgdash.charts.relik_scale import relik_scale
from kgdash.charts.subgraph import subgraph_figure


def test_the_figure_takes_the_colours_of_the_run():
    triples = pd.DataFrame({"head": [0, 1], "relation": 0, "tail": [1, 2], "relik": [0.01, 0.02]})
    scale = relik_scale([1e-6, 0.5, 1])
    figure = subgraph_figure(np.arange(3), ["a", "b", "c"], 0, triples, scale)
    (edges,) = [trace for trace in figure.data if trace.name == "edges"]
    np.testing.assert_allclose(sorted(edges.marker.color), scale.place([0.01, 0.02]))
