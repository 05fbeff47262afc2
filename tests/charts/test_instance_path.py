import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdash.charts.instance_path import path_figure
from kgdash.charts.instance_path_layout import edge_curves, path_layout
from kgdash.charts.relik_scale import ReliKScale

ENTITIES = [f"entity {number}" for number in range(8)]
RELATIONS = ["lives in", "part of", "<b>born</b> in"]
COLUMNS = ["head", "relation", "tail", "is_answer_triple", "predicted_side", "relik", "split"]


def triples(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


#: one step, three steps of which one is asked backwards, three branches, a rule with its head
ONE = triples((0, 0, 1, True, "tail", 0.01, "test"))
CHAIN = triples(
    (0, 0, 1, False, "tail", 0.01, "train"),
    (1, 1, 2, False, "tail", 0.1, "train"),
    (3, 2, 2, True, "head", 1e-4, "none"),
)
BRANCHES = triples(*((n, n, 3, True, "tail", 0.1 / (n + 1), "train") for n in range(3)))
RULE = triples(
    (0, 0, 1, False, "tail", 0.01, "train"),
    (2, 1, 1, False, "tail", 0.1, "train"),
    (0, 2, 2, True, "tail", 0.5, "none"),
)


def columns(placed):
    return {entity: x for entity, (x, _) in placed.places.items()}


def test_entities_stand_as_many_columns_before_the_answer_as_steps_lead_to_it():
    assert columns(path_layout(ONE)) == {0: 0, 1: 1}
    assert columns(path_layout(CHAIN)) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert path_layout(CHAIN).answer == 3
    assert columns(path_layout(BRANCHES)) == {0: 0, 1: 0, 2: 0, 3: 1}
    assert path_layout(BRANCHES).rows == 3
    # A rule's head leads from one end to the other at once: it is the body that counts.
    assert columns(path_layout(RULE)) == {0: 0, 1: 1, 2: 2}
    loop = path_layout(triples((4, 0, 4, True, "tail", 0.5, "train")))
    assert (loop.columns, loop.rows, loop.places) == (1, 1, {4: (0.0, 0.0)})


def test_many_triples_are_counted_not_drawn():
    """50,000 took the server's thread for minutes."""
    rows = [(0, 0, n, True, "tail", 0.5, "train") for n in range(1, 152)]
    names = [str(n) for n in range(152)]
    drawn = path_figure(triples(*rows[:-1], rows[0]), names, RELATIONS, True, SCALE)
    assert len(drawn.data) > 150
    counted = path_figure(triples(*rows), names, RELATIONS, True, SCALE)
    assert counted.layout.annotations[0].text == "151 triples are too many to draw"
    assert not counted.data


edges = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5), st.booleans()),
    min_size=1,
    max_size=10,
    unique_by=lambda row: row[:3],
)


@settings(max_examples=60)
@given(edges)
def test_no_two_entities_share_a_place_and_edges_join_their_ends(rows):
    table = triples(*((*row, "tail", 0.1, "train") for row in rows)).assign(
        is_answer_triple=[True] + [row[3] for row in rows[1:]]
    )
    placed = path_layout(table)
    assert len(set(placed.places.values())) == len(placed.places)
    assert all(x >= 0 and y >= 0 for x, y in placed.places.values())
    assert placed.places[placed.answer][0] == placed.columns - 1
    curves = edge_curves(table, placed, 0.9)
    for row, curve in zip(table.itertuples(), curves, strict=True):
        assert np.allclose(curve[0], placed.places[row.head])
        assert np.allclose(curve[-1], placed.places[row.tail])
        assert curve[:, 1].min() > -1e-9
    for pair in {tuple(sorted(row[:3:2])) for row in rows}:
        between = [c for c, r in zip(curves, rows, strict=True) if tuple(sorted(r[:3:2])) == pair]
        assert len({tuple(np.round(curve[12], 6)) for curve in between}) == len(between)


SCALE = ReliKScale(1e-6, 1e-3, 1.0)


def lines(figure):
    return [trace for trace in figure.data if trace.mode == "lines"]


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


def test_edges_are_dashed_where_no_fact_and_coloured_by_relik():
    figure = path_figure(CHAIN, ENTITIES, RELATIONS, True, SCALE)
    assert [line.line.dash for line in lines(figure)] == ["solid", "solid", "dash"]
    handles = named(figure, "edges")
    assert np.allclose(handles.marker.color, SCALE.place(CHAIN["relik"]))
    assert (handles.marker.cmin, handles.marker.cmax) == (0, 1)
    reds = [int(line.line.color[4:].split(",")[0]) for line in lines(figure)]
    assert reds[2] > reds[0] > reds[1]
    arrows = [trace for trace in figure.data if trace.marker.symbol == "arrow"]
    assert [a.x[-1] for a in arrows] == [1, 2, 2]
    assert "not a known fact" in handles.text[2]
    assert "in train" in handles.text[0]


def test_names_of_edges_and_entities():
    figure = path_figure(RULE, ENTITIES, RELATIONS, False, SCALE)
    notes = [note.text for note in figure.layout.annotations]
    assert [note.split("<br>")[-1] for note in notes] == [
        "<b>0.0100</b>",
        "<b>0.100</b>",
        "<b>0.500</b>",
    ]
    assert "&lt;b&gt;" in notes[2]
    entities = named(figure, "entities")
    assert list(entities.customdata) == [0, 1, 2]
    assert entities.marker.symbol == ("circle", "circle", "star")
    assert entities.hovertext[2] == "entity 2 (false answer)"
    assert all(0 < float(note.y) < 2 or note.yshift == 7 for note in figure.layout.annotations)


def test_of_many_edges_the_names_show_on_hover():
    rows = [(0, 0, n, False, "tail", 0.1, "train") for n in (2, 3, 4)]
    rows += [(n, 1, 1, True, "tail", 0.2, "none") for n in (2, 3, 4)]
    figure = path_figure(triples(*rows), ENTITIES, RELATIONS, True, SCALE)
    assert not figure.layout.annotations
    assert len(named(figure, "edges").text) == 6
    # The same triple of two groundings is drawn once.
    assert len(lines(path_figure(triples(*rows, rows[0]), ENTITIES, RELATIONS, True, SCALE))) == 6


def test_labels_are_cut_to_what_a_phone_has_room_for():
    long = ["word " * 30, "x" * 80, *ENTITIES]
    figure = path_figure(ONE, long, ["/film/film/" + "a" * 60 + "/actor"] * 3, True, SCALE)
    for text in (*named(figure, "entities").text, figure.layout.annotations[0].text):
        parts = text.replace("<b>", "").replace("</b>", "").split("<br>")
        assert max(map(len, parts)) <= 26
    assert "/actor" in figure.layout.annotations[0].text.replace("<br>", "")
    # Names of many parts are broken between them.
    parts = path_figure(CHAIN, ["natural_phenomenon_or_process"] * 4, RELATIONS, True, SCALE).data
    assert named(go.Figure(parts), "entities").text[0] == "natural_<br>phenomenon_…"
    # A word longer than a line is cut, not left out.
    assert named(figure, "entities").text[1].startswith("<b>" + "x" * 26)


@pytest.mark.parametrize("table", [ONE, CHAIN, BRANCHES, RULE])
def test_the_drawing_holds_all_and_leaves_the_text_s_colour_to_the_page(table):
    figure = path_figure(table, ENTITIES, RELATIONS, True, SCALE)
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    for trace in figure.data:
        assert all(left < x < right for x in trace.x)
        assert all(low < y < high for y in trace.y)
    assert figure.layout.font.color is None
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    figure.to_json()


def test_nothing_to_draw():
    assert path_figure(ONE.iloc[:0], ENTITIES, RELATIONS, True, SCALE).layout.annotations
