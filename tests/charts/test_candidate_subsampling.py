"""The figure of fewer candidates shows its table."""

import numpy as np

from kgdash.charts.candidate_subsampling import candidates_lines
from kgdash.ranking.candidate_subsampling import expected_metrics


def test_lines_are_the_columns(bundled):
    table = expected_metrics(bundled("umls-transe").ranks())
    figure = candidates_lines(table)
    assert [line.name for line in figure.data] == [
        "MRR",
        "Hits@10",
        "Adjusted MRR",
        "Adjusted Hits@10",
        "AMRI",
    ]
    keys = ["inverse_harmonic_mean_rank", "hits_at_10", "adjusted_inverse_harmonic_mean_rank"]
    keys += ["adjusted_hits_at_k", "adjusted_arithmetic_mean_rank_index"]
    for line, key in zip(figure.data, keys, strict=True):
        np.testing.assert_array_equal(line.x, table["candidates"])
        np.testing.assert_array_equal(line.y, table[key])


def test_a_single_number_of_candidates(bundled):
    figure = candidates_lines(expected_metrics(bundled("umls-transe").ranks(), shares=[1.0]))
    assert len(figure.layout.xaxis.tickvals) == 1
