"""The figures of fewer candidates show their tables."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.candidate_subsampling import candidates_lines, protocol_dots
from kgdash.ranking.candidate_subsampling import expected_metrics
from kgdash.ranking.metric_lookup import find_metric


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


def test_the_best_run_is_on_top_and_whiskers_are_where_something_is_drawn():
    columns = {"run": ["a", "a", "b", "b"], "protocol": ["few", "typed"] * 2}
    columns |= {"exact": [0.2, 0.2, 0.3, 0.3], "sd": [0.1, 0.0] * 2}
    table = pd.DataFrame({**columns, "value": [0.9, 0.5, 0.8, 0.6]})
    figure = protocol_dots(table, find_metric("mrr"))
    marks = {trace.name: trace for trace in figure.data if trace.mode == "markers"}
    assert list(marks) == ["all candidates", "a", "b"]
    assert list(marks["all candidates"].x) == [0.2, 0.2, 0.3, 0.3]
    for run, values in (("a", [0.9, 0.5]), ("b", [0.8, 0.6])):
        assert list(marks[run].x) == values
        assert marks[run].error_x.array[0] == pytest.approx(0.1)
        assert np.isnan(marks[run].error_x.array[1])
    assert np.all(np.array(marks["b"].y) > np.array(marks["a"].y))
    assert [note.text for note in figure.layout.annotations] == ["few", "typed"]
    worse = protocol_dots(table, find_metric("mr"))
    assert np.all(np.array(worse.data[2].y) > np.array(worse.data[3].y))
