"""Figures of breakdowns: what they draw is what the table says."""

import numpy as np
import pandas as pd

from kgdash.charts.breakdowns import MOST_GROUPS, group_bars, shortened, side_heatmap
from kgdash.ranking.metric_lookup import metric_records

MRR = metric_records()["inverse_harmonic_mean_rank"]
MR = metric_records()["arithmetic_mean_rank"]


def table(groups, side="tail", **columns):
    rows = pd.DataFrame({"group": groups, "side": side})
    rows["triples"] = 40
    rows["value"] = np.linspace(0.1, 0.9, len(rows))
    rows["low"], rows["high"] = rows["value"] - 0.05, rows["value"] + 0.1
    rows["small"], rows["tied_share"], rows["largest_tie"] = False, 0.0, 1
    return rows.assign(**columns)


def test_bars_say_what_the_table_says():
    rows = table(["a", "b<i>"], small=[True, False])
    figure = group_bars(rows, MRR, 0.5)
    (bars,) = figure.data
    assert list(bars.x) == rows["value"].tolist()
    assert list(bars.customdata) == ["a", "b<i>"]
    np.testing.assert_allclose(bars.error_x.array, 0.1)
    np.testing.assert_allclose(bars.error_x.arrayminus, 0.05)
    assert bars.marker.pattern.shape == ("/", "")
    names = [annotation.text for annotation in figure.layout.annotations]
    assert "n = 40, small" in names[0]
    assert names[1].startswith("b&lt;i&gt;  <b>0.900</b>")
    assert figure.layout.shapes[0].x0 == 0.5


def test_a_name_turns_no_figure_beside_it():
    (annotation,) = group_bars(table(["\u202ea"]), MRR, 0.5).layout.annotations
    assert annotation.text.startswith(r"\u202ea  <b>")


def test_no_more_than_fit_and_it_is_said():
    rows = table([f"/long/path/of/a/relation/number/{i}" for i in range(40)])
    figure = group_bars(rows, MRR, 0.5)
    assert len(figure.data[0].x) == MOST_GROUPS
    assert f"the first {MOST_GROUPS} of 40 groups" in figure.layout.xaxis.title.text
    heat = side_heatmap(rows, MRR, rows["group"].tolist())
    assert heat.data[0].z.shape == (MOST_GROUPS, 1)


def test_groups_without_values_or_intervals():
    rows = table(["a", "b"], value=np.nan, low=np.nan, high=np.nan)
    assert not group_bars(rows, MRR, np.nan).data
    assert not side_heatmap(rows, MRR, ["a", "b"]).data
    figure = group_bars(table(["a"], low=np.nan, high=np.nan), MRR, 0.5)
    assert np.isnan(figure.data[0].error_x.array).all(), "no interval is none of no width"


def test_the_better_the_bluer():
    rows = pd.concat([table(["a", "b"], "head"), table(["b"], "tail", small=True)])
    rising, falling = (side_heatmap(rows, info, ["b", "a"]) for info in (MRR, MR))
    assert not rising.data[0].reversescale
    assert falling.data[0].reversescale
    assert list(rising.data[0].x) == ["head", "tail"]
    np.testing.assert_array_equal(rising.data[0].z, [[0.9, 0.1], [0.1, np.nan]])
    assert rising.data[0].text[0][1] == "0.100*"
    assert rising.data[0].text[1][1] == ""


def test_long_names_keep_both_ends():
    assert shortened("short", 10) == "short"
    assert shortened("0123456789abc", 9) == "0123…9abc"


def test_of_a_path_the_last_part_comes_first():
    assert shortened("/film/film/genre", 40) == "genre · /film/film"
    assert shortened("/film/film/genre", 12) == "genre · /fi…"


def test_a_metric_between_ends_has_the_same_colours_anywhere():
    heat = side_heatmap(table(["a", "b"]), MRR, ["a", "b"]).data[0]
    assert (heat.zmin, heat.zmax) == (0, 1)
    assert side_heatmap(table(["a", "b"]), MR, ["a", "b"]).data[0].zmax is None
