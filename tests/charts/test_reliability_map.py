"""Figures of the reliability map: what they draw is what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.reliability_map import baseline_figure, community_map, reliability_dots
from kgdash.charts.relik_scale import ReliKScale

SCALE = ReliKScale(0.001, 0.1, 1)


def groups(count):
    relik = np.linspace(0.01, 0.5, count)
    return pd.DataFrame(
        {
            "id": np.arange(count) * 10,
            "label": [f"<{i}>" for i in range(count)],
            "entities": np.arange(count, 0, -1),
            "triples": 40,
            "relik": relik,
            "low": relik * 0.8,
            "high": relik * 1.2,
            "small": np.arange(count) == 1,
        }
    )


def test_few_are_all_drawn():
    table = groups(3)
    table.loc[2, ["low", "high"]] = np.nan
    figure = reliability_dots(table, SCALE)
    (dots,) = figure.data
    assert list(dots.x) == table["relik"].tolist()
    assert list(dots.customdata) == [0, 1, 2]
    assert list(dots.marker.symbol) == ["circle", "circle-open", "circle"]
    expected = [*(table["relik"] * 0.2)[:2], np.nan]
    assert list(dots.error_x.array) == pytest.approx(expected, nan_ok=True)
    assert list(figure.layout.yaxis.ticktext) == ["&lt;0&gt;", "&lt;1&gt;", "&lt;2&gt;"]
    assert not figure.layout.shapes


def test_of_many_the_ends_are_drawn():
    figure = reliability_dots(groups(100), SCALE)
    assert list(figure.data[0].customdata) == [*range(12), *range(88, 100)]
    assert figure.layout.shapes[0].y0 == -11.5
    assert reliability_dots(groups(0), SCALE).layout.annotations[0].text == "no known triple"


def test_names_on_the_map_do_not_meet():
    table = groups(40).assign(label=[f"a community with number {i}" for i in range(40)])
    table["triples"] = np.arange(40, 0, -1)
    lines = pd.DataFrame({"a": 0, "b": np.arange(10, 400, 10), "triples": 3, "relik": 0.1})
    figure = community_map(table, lines, SCALE)
    bubbles = figure.data[-1]
    named = [i for i, text in enumerate(bubbles.text) if text]
    assert 1 < len(named) <= 14
    assert named[0] == 0
    across, up = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert not any(name_faults(bubbles, across, up, width) for width in (560, 350))


def name_faults(bubbles, across, up, width):
    """Say which names are cut, or meet another name or bubble, on a map of a width."""
    x = (np.array(bubbles.x) - across[0]) / (across[1] - across[0]) * width
    y = (np.array(bubbles.y) - up[0]) / (up[1] - up[0]) * 540
    ways = {"top": (0, 1), "bottom": (0, -1), "middle": (1, 0)}
    boxes, faults = {}, []
    for i, text in enumerate(bubbles.text):
        if not text:
            continue
        across_by, up_by = ways[bubbles.textposition[i].split()[0]]
        if bubbles.textposition[i].endswith("left"):
            across_by = -1
        half = 3 * min(len(text), 20), 7
        away = 1.25 * bubbles.marker.size[i] / 2
        middle = x[i] + across_by * (away + half[0]), y[i] + up_by * (away + half[1])
        box = middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1]
        if box[0] < 0 or box[1] > width:
            faults.append((i, "cut"))
        for other, name in boxes.items():
            if box[0] < name[1] and name[0] < box[1] and box[2] < name[3] and name[2] < box[3]:
                faults.append((i, other))
        for other, size in enumerate(bubbles.marker.size):
            gap = np.clip(x[other], *box[:2]) - x[other], np.clip(y[other], *box[2:]) - y[other]
            if other != i and np.hypot(*gap) < size / 2:
                faults.append((i, "bubble", other))
        boxes[i] = box
    return faults


def test_communities():
    lines = pd.DataFrame({"a": [0, 0], "b": [10, 20], "triples": [1, 500], "relik": [0.1, 0.2]})
    figure = community_map(groups(3), lines, SCALE)
    bubbles = figure.data[-1]
    assert list(bubbles.customdata) == [0, 1, 2]
    assert list(bubbles.marker.color) == pytest.approx(SCALE.place(groups(3)["relik"]))
    sized = community_map(groups(3).assign(triples=[9, 4, 1]), lines, SCALE).data[-1]
    areas = np.square(sized.marker.size)
    np.testing.assert_allclose(areas / areas[0], [1, 4 / 9, 1 / 9])
    assert bubbles.hovertext[0].startswith("&lt;0&gt;<br>3 entities, 40 triples inside")
    thin, thick = figure.data[:-1]
    assert thin.line.width < thick.line.width == 4
    place = dict(zip([0, 10, 20], zip(bubbles.x, bubbles.y, strict=True), strict=True))
    assert [(thick.x[i], thick.y[i]) for i in (0, 1)] == [place[0], place[20]]
    many = community_map(groups(80), lines, SCALE)
    assert list(many.data[-1].customdata) == list(range(60))
    assert community_map(groups(0), lines, SCALE).layout.annotations
    assert len(community_map(groups(1), lines, SCALE).data) == 1


def test_communities_that_nothing_joins_to_the_others_leave_them_their_room():
    chain = pd.DataFrame({"a": [0, 10, 20], "b": [10, 20, 30], "triples": 9, "relik": 0.1})
    bubbles = community_map(groups(6), chain, SCALE).data[-1]
    x, y = np.array(bubbles.x), np.array(bubbles.y)
    assert np.ptp(y[4:]) == 0
    assert y[4] < y[:4].min()
    assert x[4] < x[5]
    assert np.abs(x[4:]).max() < np.abs(np.stack([x, y])[:, :4]).max()
    apart = community_map(groups(6), chain[:1], SCALE).data[-1]
    assert len(set(apart.y)) == 6


def test_bubbles_do_not_hide_one_another():
    a, b = np.triu_indices(12, 1)
    all_joined = pd.DataFrame({"a": a * 10, "b": b * 10, "triples": 10_000, "relik": 0.1})
    bubbles = community_map(groups(12), all_joined, SCALE).data[-1]
    places = np.column_stack([bubbles.x, bubbles.y])
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    widths = np.add.outer(bubbles.marker.size, bubbles.marker.size) / 2
    assert (gaps[a, b] * 150 > 0.95 * widths[a, b]).all()


def test_baseline():
    table = pd.DataFrame(
        {
            "kind": ["low", "high", "low"],
            "z": [-6.0, 5.0, -1.0],
            "p": [0.01, 0.04, 0.9],
            "entities": 7,
            "label": "<a>",
        }
    )
    figure = baseline_figure(table, np.linspace(1, 4, 100))
    chance, low, high = figure.data
    assert len(chance.x) == 100
    assert (list(low.x), list(low.customdata)) == ([6.0, 1.0], [0, 2])
    assert list(low.marker.symbol) == ["triangle-down", "triangle-down-open"]
    assert (list(high.x), list(high.customdata)) == ([5.0], [1])
    assert low.text[0].startswith("&lt;a&gt;<br>7 entities")
    assert figure.layout.shapes[0].x0 == pytest.approx(np.quantile(np.linspace(1, 4, 100), 0.95))
    assert "known triples" in baseline_figure(table[:0], np.zeros(3)).layout.annotations[0].text
