"""Figures of several runs, and of two: what they draw is what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.breakdowns import MOST_GROUPS
from kgdash.charts.comparison import metric_dots, position_heatmap, seed_dots
from kgdash.charts.run_pairs import community_forest, pair_forest, rank_density, win_bars
from kgdash.charts.style import SIDE_COLOURS
from kgdash.ranking.metric_lookup import metric_records

MRR = metric_records()["inverse_harmonic_mean_rank"]
A_WINS, B_WINS = SIDE_COLOURS["head"], SIDE_COLOURS["tail"]


def overall_rows(values):
    rows = [
        {"side": side, "run": run, "value": value, "low": value - 0.1, "high": value + 0.2}
        | {"position": 1}
        for run, of_run in values.items()
        for side, value in zip(("head", "tail", "both"), of_run, strict=True)
    ]
    return pd.DataFrame(rows).astype({"position": "Int64"})


def marks(figure):
    return [trace for trace in figure.data if trace.mode == "markers"]


def test_dots():
    figure = metric_dots(overall_rows({"one": (0.1, 0.3, 0.2), "two": (0.5, 0.6, 0.55)}), MRR)
    found = {trace.name: list(trace.x) for trace in marks(figure)}
    assert found == {"head": [0.1, 0.5], "tail": [0.3, 0.6], "both": [0.2, 0.55]}
    assert list(marks(figure)[0].y) == [0, -1]
    assert len(figure.data) == 3, "no line joins the sides"
    both = next(trace for trace in marks(figure) if trace.name == "both")
    assert list(both.error_x.array) == pytest.approx([0.2, 0.2])
    assert list(both.error_x.arrayminus) == pytest.approx([0.1, 0.1])
    assert marks(figure)[0].error_x.array is None
    assert list(figure.layout.yaxis.ticktext) == ["one", "two"]
    assert figure.layout.xaxis.title.text == "Mean reciprocal rank (MRR) ↑"
    assert "two<br>head" in marks(figure)[0].text[1]
    alone = metric_dots(overall_rows({"one": (0.1, 0.3, 0.2)}), MRR)
    assert figure.layout.height > alone.layout.height > 100


def test_names_are_escaped():
    figure = metric_dots(overall_rows({"<b>": (0.1, 0.3, 0.2)}), MRR)
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;"]
    assert marks(figure)[0].text[0].startswith("&lt;b&gt;<br>")


def group_rows(groups, runs=("one", "two"), value=0.5):
    rows = [
        {
            "group": group,
            "run": run,
            "side": "both",
            "small": group.endswith("s"),
            "value": value + number,
            "position": len(runs) - number,
        }
        for group in groups
        for number, run in enumerate(runs)
    ]
    return pd.DataFrame(rows).astype({"position": "Int64"})


def test_positions():
    figure = position_heatmap(group_rows(["gs", "h"]), MRR, ["h", "gs"])
    heat = figure.data[0]
    assert np.array(heat.z).tolist() == [[2, 1], [2, 1]]
    assert np.array(heat.text)[0].tolist() == ["0.500<br>2.", "1.50<br>1."]
    assert (heat.zmin, heat.zmax) == (1, 2)
    assert heat.colorscale[0][1] == "#1e5fb4"
    assert list(figure.layout.yaxis.ticktext) == ["h", "gs*"]
    assert list(figure.layout.xaxis.ticktext) == ["one", "two"]
    assert "position 2" in np.array(heat.hovertext)[0, 0]


def test_many_runs_leave_room_for_positions_alone():
    rows = group_rows(["g"], runs=tuple("abcde"))
    assert np.array(position_heatmap(rows, MRR, ["g"]).data[0].text)[0].tolist() == [
        *("5.", "4.", "3.", "2.", "1.")
    ]


def test_positions_where_a_value_is_missing():
    rows = group_rows(["g"])
    rows.loc[0, ["value", "position"]] = [np.nan, pd.NA]
    heat = position_heatmap(rows, MRR, ["g"]).data[0]
    assert np.array(heat.text)[0].tolist() == ["", "1.50<br>1."]
    assert np.isnan(np.array(heat.z, dtype=float)[0, 0])
    nothing = position_heatmap(rows.assign(value=np.nan), MRR, ["g"])
    assert "not defined" in nothing.layout.annotations[0].text


def test_the_first_groups_are_drawn():
    names = [f"g{number}" for number in range(MOST_GROUPS + 5)]
    heat = position_heatmap(group_rows(names), MRR, names[::-1]).data[0]
    assert np.array(heat.z).shape == (MOST_GROUPS, 2)


def test_seeds():
    rows = overall_rows({"s0": (0.1, 0.3, 0.2), "s1": (0.3, 0.5, 0.4)})
    spread = pd.DataFrame(
        {
            "side": ["head", "tail"],
            "seeds": 2,
            "mean": [0.2, 0.4],
            "standard_deviation": [0.1, np.nan],
        }
    )
    figure = seed_dots(rows, spread, MRR)
    head_dots, head_mean, tail_dots, tail_mean = figure.data
    assert list(head_dots.x) == [0.1, 0.3]
    assert list(tail_dots.x) == [0.3, 0.5]
    assert (list(head_mean.x), list(head_mean.error_x.array)) == ([0.2], [0.1])
    assert list(tail_mean.error_x.array) == [0]
    assert head_mean.text[0] == "head: 0.200 ± 0.100, 2 seeds"


TESTS = pd.DataFrame(
    {
        "a": ["x", "x", "y"],
        "b": ["y", "z", "z"],
        "difference": [0.2, -0.1, 0.05],
        "low": [0.1, -0.2, -0.01],
        "high": [0.3, -0.05, np.nan],
        "p_holm": [0.001, 0.049, 0.05],
        "p_shared": [0.0005, 0.02, 0.01],
    }
)


def test_forest_of_pairs():
    figure = pair_forest(TESTS)
    found = {trace.marker.color: trace for trace in figure.data}
    assert list(found[A_WINS].x) == [0.2]
    assert list(found[B_WINS].x) == [-0.1]
    grey = next(trace for colour, trace in found.items() if colour not in (A_WINS, B_WINS))
    assert (list(grey.x), list(grey.y)) == ([0.05], [-2])
    assert found[A_WINS].error_x.array[0] == pytest.approx(0.1)
    assert found[B_WINS].error_x.arrayminus[0] == pytest.approx(0.1)
    assert np.isnan(grey.error_x.array).all()
    texts = [note.text for note in figure.layout.annotations]
    assert texts[0].startswith("x − y  <b>0.200</b>  p 0.00100")
    assert len(texts) == 3


def test_pairs_of_which_too_few_units_tell_are_not_coloured():
    figure = pair_forest(TESTS.assign(p_shared=np.nan))
    assert not {trace.marker.color for trace in figure.data} & {A_WINS, B_WINS}
    assert figure.layout.annotations[0].text.startswith("x − y  <b>0.200</b>  p –")


def test_pairs_whose_interval_holds_0_are_not_coloured():
    figure = pair_forest(TESTS.assign(low=[-0.01, -0.2, -0.01], high=[0.3, 0.0, 0.1]))
    assert not {trace.marker.color for trace in figure.data} & {A_WINS, B_WINS}


def regions(count):
    difference = np.linspace(0.5, -0.5, count)
    return pd.DataFrame(
        {
            "name": [f"r{n}" for n in range(count)],
            "triples": 40,
            "difference": difference,
            "low": difference - 0.1,
            "high": difference + 0.1,
            "small": False,
        }
    )


def test_forest_of_regions():
    table = regions(5).assign(small=[False, True, False, False, False])
    figure = community_forest(table, "one", "<two>")
    found = {trace.marker.color: list(trace.x) for trace in figure.data}
    assert found[A_WINS] == [0.5]
    assert found[B_WINS] == [-0.25, -0.5]
    assert sum(len(trace.x) for trace in figure.data) == 5
    assert figure.layout.annotations[1].text.endswith("n = 40, small")
    assert figure.layout.xaxis.title.text == "difference of MRR: one − &lt;two&gt;"


def test_many_regions_show_both_ends():
    figure = community_forest(regions(80), "one", "two")
    names = [note.text.split()[0] for note in figure.layout.annotations]
    half = MOST_GROUPS // 2
    assert names == [f"r{n}" for n in (*range(half), *range(80 - half, 80))]


def test_density():
    grid = pd.DataFrame(
        {
            "low_a": [1.0, 1, 3],
            "high_a": [2.0, 2, 10],
            "low_b": [1.0, 3, 2],
            "high_b": [2.0, 10, 3],
            "count": [100, 10, 1],
        }
    )
    heat, diagonal = rank_density(grid, "one", "two").data
    counts = np.array(heat.z, dtype=float)
    assert counts.shape == (3, 3)
    assert counts[0, 0] == 2
    assert counts[2, 0] == 1
    assert counts[1, 2] == 0
    assert np.isnan(counts).sum() == 6
    np.testing.assert_allclose(heat.x, -np.log10([1, 2, 3, 10]))
    texts = np.array(heat.hovertext)
    assert texts[2, 0] == "one: rank 1<br>two: rank 3–9<br>10 ranks"
    assert list(diagonal.x) == list(diagonal.y)
    assert "no ranks" in rank_density(grid[:0], "one", "two").layout.annotations[0].text


def test_win_bars():
    table = pd.DataFrame(
        {
            "relation": [1, 0],
            "triples": [10, 4],
            "wins": [7, 0],
            "ties": [1, 4],
            "losses": [2, 0],
            "p_holm": [0.03, 1.0],
        }
    )
    figure = win_bars(table, ["<p>", "q"], "one", "two")
    assert [(bar.name, list(bar.x)) for bar in figure.data] == [
        ("one better", [0.7, 0]),
        ("equal", [0.1, 1]),
        ("two better", [0.2, 0]),
    ]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["q  7 : 1 : 2  <b>p < 0.05</b>", "&lt;p&gt;  0 : 4 : 0"]
    assert "7 of 10" in figure.data[0].text[0]
    assert "no relations" in win_bars(table[:0], [], "a", "b").layout.annotations[0].text
