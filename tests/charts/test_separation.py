import warnings

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.instance_distribution import SHAPES, values_figure
from kgdash.charts.separation import auc_figure, means_figure
from kgdash.errors import KgdashError
from kgdash.studies.instances.separation import separation


def scored(groups=("2p", "2i"), count=10, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (group, bool(label), 10.0 ** rng.uniform(-6, 0))
        for group in groups
        for label in (1, 0)
        for _ in range(count)
    ]
    table = pd.DataFrame(rows, columns=["group", "label", "relik_max"])
    table.insert(0, "instance", np.arange(len(table)))
    return table.assign(
        relik_mean=table["relik_max"],
        reciprocal_rank_max=table["relik_max"],
        question=[f"r(a{number}, ?)" for number in table["instance"]],
        score_max=np.log(table["relik_max"]),
        answer="b",
        groundings=1,
        distinct=1,
    )


def points(figure):
    return [trace for trace in figure.data if trace.type == "scatter"]


def texts(figure):
    return [annotation.text for annotation in figure.layout.annotations]


def test_points_name_their_instance():
    table = scored()
    figure = values_figure(table)
    found = {
        instance: (group, trace.name, value)
        for trace in points(figure)
        for (instance, group), value in zip(trace.customdata, trace.x, strict=True)
    }
    assert len(found) == len(table)
    for row in table.itertuples():
        assert found[row.instance] == (row.group, "true" if row.label else "false", row.relik_max)
    assert figure.layout.xaxis.type == "log"
    assert [t.type for t in figure.data].count("box") == 2
    symbols = {trace.marker.symbol for trace in points(figure)}
    assert len(symbols) == 2
    first = points(figure)[0]
    assert f"r(a{first.customdata[0][0]}, ?) → b" in first.text[0]


def test_groups_in_the_order_asked_for_and_no_others():
    figure = values_figure(scored(("a", "b", "c")), groups=["c", "a"], names={"c": "the third"})
    assert texts(figure) == ["the third", "a"]
    assert {group for trace in points(figure) for _, group in trace.customdata} == {"a", "c"}


def outlines(figure):
    return [trace for trace in points(figure) if trace.fill == "toself"]


def test_violins_are_the_density_of_the_logarithms():
    # Log-normal: the density of the logarithms is greatest at their mean, that of the values left.
    rng = np.random.default_rng(0)
    table = scored(("x",), count=400)
    table["relik_max"] = np.exp(rng.normal(-6, 1.2, len(table)))
    figure = values_figure(table, shape="violin")
    assert len(outlines(figure)) == 2
    assert not [t for t in figure.data if t.type == "box"]
    for trace in outlines(figure):
        widest = trace.x[np.nanargmax(trace.y)]
        assert np.log(widest) == pytest.approx(-6, abs=0.5)
        assert np.nanmin(trace.x) >= table["relik_max"].min() * 0.999
    # Two groups are two outlines of one trace, with a gap between.
    both = outlines(values_figure(scored(), shape="violin"))[0]
    assert np.isnan(both.x).sum() == 2


def test_a_violin_of_next_to_nothing_is_left_to_its_points():
    table = scored(("x",), count=5).assign(relik_max=0.1)
    figure = values_figure(table, shape="violin")
    assert all(len(trace.x) == 0 for trace in outlines(figure))
    assert sum(len(t.x) for t in points(figure)) == 10
    assert [t.type for t in values_figure(table, shape="points only").data] == ["scatter"] * 2
    with pytest.raises(KgdashError, match="did you mean 'violin'"):
        values_figure(table, shape="violine")


def test_boxes_are_plotly_s_of_all_values_without_sending_them():
    """A group of 500,000 instances sent 13 MB at each rerun."""
    values = [*range(1, 10), 40]
    table = scored(("x",), count=10)
    table["score_max"] = np.array(values * 2, dtype=np.float64)
    (box, _) = (t for t in values_figure(table, "score").data if t.type == "box")
    ends = [box.lowerfence, box.q1, box.median, box.q3, box.upperfence]
    assert np.ravel(ends).tolist() == [1, 3, 5.5, 8, 40]
    assert box.x is None


def test_raw_scores_have_a_linear_axis():
    figure = values_figure(scored(), "score", shape="violin")
    assert figure.layout.xaxis.type is None
    assert "linear" in figure.layout.xaxis.title.text
    assert min(np.nanmin(t.x) for t in outlines(figure)) < 0


def test_many_points_are_thinned_and_keep_their_ends():
    table = scored(("x",), count=5000)
    for trace in points(values_figure(table)):
        assert len(trace.x) == 150
        values = table[table["label"] == (trace.name == "true")]["relik_max"]
        assert (min(trace.x), max(trace.x)) == (values.min(), values.max())


def test_many_groups_are_cut_and_said():
    table = scored([f"rule {i}" for i in range(25)], count=2)
    separated = separation(table)
    for figure, together in (
        (values_figure(table), []),
        (means_figure(separated), ["all groups"]),
        (auc_figure({"relik": separated}), ["all groups"]),
    ):
        assert texts(figure) == [f"rule {i}" for i in range(20)] + together
        assert "the first 20 of 25 groups" in figure.layout.xaxis.title.text


def test_long_names_are_cut_and_whole_on_hover():
    name = "lives in(a, h) ∧ part of(h, b) ∧ " * 3 + "⇒ lives <in>(a, b)"
    figure = auc_figure({"relik": separation(scored((name,)))})
    label = figure.layout.annotations[0]
    assert all(len(line) < 70 for line in label.text.split("<br>"))
    assert label.text.endswith("lives &lt;in&gt;(a, b)")
    assert "∧ part of(h, b) ∧ lives in(a, h) ∧ part of" in label.hovertext
    assert figure.data[0].customdata[0] == name


def test_rules_that_differ_in_one_atom_are_told_apart_in_two_lines():
    head = "⇒ was nominated together with(a, b)"
    names = tuple(
        f"is played by athletes who also play({ends}) ∧ was nominated for work in(h, b) {head}"
        for ends in ("a, h", "h, a")
    )
    figure = auc_figure({"relik": separation(scored(names))})
    lines = [label.text.split("<br>") for label in figure.layout.annotations[:2]]
    assert sorted(first for first, _ in lines) == [
        f"is played by a…lso play({ends}) ∧ was nominated … work in(h, b)"
        for ends in ("a, h", "h, a")
    ]
    assert [second for _, second in lines] == [head, head]
    short = auc_figure({"relik": separation(scored(("rule 1", "rule 2")))})
    assert figure.layout.height > short.layout.height


def test_means_and_intervals():
    separated = separation(scored())
    figure = means_figure(separated)
    for trace in points(figure):
        name = trace.name
        assert np.allclose(trace.x, separated[f"mean_{name}"])
        assert np.allclose(trace.x + trace.error_x.array, separated[f"high_{name}"])
        assert np.allclose(trace.x - trace.error_x.arrayminus, separated[f"low_{name}"])
    assert texts(figure) == ["2p", "2i", "all groups"]


def test_aucs_side_by_side_with_intervals_follow_the_first_table_s_order():
    table = scored(("a", "b"), count=30)
    relik = separation(table, order="separation")
    rank = separation(table, "reciprocal_rank").iloc[::-1]
    figure = auc_figure({"relik": relik, "reciprocal_rank": rank})
    assert [trace.name for trace in points(figure)] == ["ReliK", "reciprocal rank"]
    first, second = figure.data
    assert np.allclose(first.x, second.x)
    assert np.allclose(first.x + first.error_x.array, relik["auc_high"])
    assert np.allclose(first.x - first.error_x.arrayminus, relik["auc_low"])
    assert (first.y > second.y).all()
    assert figure.layout.shapes[0].x0 == 0.5


def test_what_the_number_of_groundings_alone_gives_is_marked():
    table = scored(("a", "b"), count=30)
    separated = separation(table.assign(distinct=np.where(table["label"], 3, 1)))
    (mark,) = [t for t in auc_figure({"relik": separated}).data if "groundings" in t.name]
    assert np.allclose(mark.x, 0.75)
    assert list(mark.customdata) == ["a", "b", "all"]
    message = auc_figure({"relik": separated}).layout.meta["message"]
    assert "number of groundings alone: a 0.750, b 0.750, all groups 0.750" in message
    mean = separation(table.assign(distinct=np.where(table["label"], 3, 1)), aggregate="mean")
    assert len(auc_figure({"relik": mean}).data) == 1


@pytest.mark.parametrize(
    "table",
    [scored(()), scored(("x",), count=1), scored(("x",)).query("label"), scored(("x",)).iloc[:1]],
)
def test_little_or_nothing_is_drawn_without_a_warning(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        separated = separation(table)
        figures = [values_figure(table, shape=shape) for shape in SHAPES]
        figures += [means_figure(separated), auc_figure({"relik": separated})]
    for figure in figures:
        assert figure.layout.annotations
        figure.to_json()
    if table.empty:
        assert all("no " in texts(figure)[0] for figure in figures)
    assert auc_figure({}).layout.annotations[0].text.startswith("no group has both")


def test_figures_are_transparent_and_leave_the_text_s_colour_to_the_page():
    table = scored()
    for figure in (values_figure(table), means_figure(separation(table))):
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
        assert figure.layout.font.color is None
