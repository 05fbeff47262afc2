"""Figures of the health of scores: what they draw is what the tables say."""

import numpy as np
import pandas as pd

from kgdash.charts.score_health import (
    MOST_ROWS,
    gap_bars,
    score_histogram,
    tie_bars,
)


def histogram(true, candidates):
    left = np.arange(len(true), dtype=float)
    table = pd.DataFrame({"left": left, "right": left + 1})
    for column, counts in (("true", true), ("candidates", candidates)):
        table[column] = counts
        table[f"{column}_share"] = np.array(counts) / max(sum(counts), 1)
    return table


def relations(gaps):
    table = pd.DataFrame({"group": [f"r<{i}>" for i in range(len(gaps))], "gap": gaps})
    return table.assign(
        pessimistic=0.1, optimistic=0.1 + table["gap"], tied_share=0.25, count=40, largest_tie=7
    )


def ties(count):
    return pd.DataFrame(
        {
            "head": [f"h{i}" for i in range(count)],
            "relation": "r",
            "tail": "<t>",
            "side": ["head", "tail"] * (count // 2) + ["head"] * (count % 2),
            "equal_scores": range(count, 0, -1),
            "candidates": 100,
        }
    )


def test_histogram_of_shares_with_counts_beneath_the_mouse():
    figure = score_histogram(histogram([0, 1, 3], [8000, 2000, 0]))
    true, rivals = figure.data
    assert (true.name, rivals.name) == ("true answers", "candidates")
    assert list(true.x) == [0.5, 1.5, 2.5]
    assert list(true.width) == [1, 1, 1]
    assert list(true.y) == [0, 0.25, 0.75]
    assert list(rivals.y) == [0.8, 0.2, 0]
    assert "8,000 scores, 80.000%" in rivals.text[0]
    assert figure.layout.barmode == "overlay"
    assert figure.layout.yaxis.type == "linear"


def test_logarithmic_shares_leave_empty_bins_out():
    figure = score_histogram(histogram([0, 4], [1, 1]), log=True)
    assert figure.layout.yaxis.type == "log"
    np.testing.assert_array_equal(figure.data[0].y, [np.nan, 1])


def test_no_finite_score():
    assert not score_histogram(histogram([0], [0])).data


def test_gaps_reach_from_pessimistic_to_optimistic():
    figure = gap_bars(relations([0.3, 0.2, 0.0]), "tail")
    (bars,) = figure.data
    assert list(bars.base) == [0.1, 0.1]
    assert list(bars.x) == [0.3, 0.2]
    assert list(bars.customdata) == ["r<0>", "r<1>"]
    assert list(figure.layout.yaxis.ticktext) == ["r&lt;0&gt;", "r&lt;1&gt;"]
    assert "25.0% of 40 ranks tied" in bars.text[0]
    assert "more relations" not in figure.layout.xaxis.title.text


def test_gaps_that_do_not_fit_are_told():
    figure = gap_bars(relations([0.1] * 25 + [0.0]), "both")
    assert len(figure.data[0].x) == MOST_ROWS
    assert "5 more relations have a gap" in figure.layout.xaxis.title.text
    assert not gap_bars(relations([0.0]), "both").data


def test_ties_name_their_queries():
    figure = tie_bars(ties(25))
    (bars,) = figure.data
    assert list(bars.x) == list(range(25, 25 - MOST_ROWS, -1))
    assert list(bars.customdata) == list(range(MOST_ROWS))
    assert list(figure.layout.yaxis.ticktext[:2]) == ["?, r, &lt;t&gt;", "h1, r, ?"]
    assert "25 of 99 candidates tie" in bars.text[0]
    assert not tie_bars(ties(0)).data
