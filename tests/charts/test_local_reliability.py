"""The figures of the page Local reliability show names as they are."""

import numpy as np
import pandas as pd
import pytest

from kgdash.charts.local_reliability import relik_scatter
from kgdash.charts.message import message_of
from kgdash.charts.relik_scale import relik_scale
from kgdash.charts.subgraph import subgraph_figure
from kgdash.studies.reliability.local_comparison import compare

HOSTILE = "<b>bold</b> & <a href='x'>link</a>"


@pytest.fixture(scope="module")
def comparison(bundled):
    run = bundled("umls-transe")
    return compare(run, run.subgraph(5, size=14))


def test_labels_are_no_markup(comparison):
    part = comparison.subgraph
    labels, scale = [HOSTILE] * part.graph.num_entities, relik_scale(comparison.triples["relik"])
    figure = subgraph_figure(part.entities, labels, part.seed_entity, comparison.triples, scale)
    shown = str({**figure.to_dict(), "layout": figure.layout.update(meta=None)})
    assert "&lt;b&gt;bold" in shown
    assert "<b>" not in shown
    assert "<a " not in shown


def test_of_many_points_some_are_drawn_with_short_names(comparison):
    """43,000 texts of 180 characters went to each tab at each rerun."""
    named = comparison.triples.assign(head="h" * 60, relation="r" * 60, tail="t" * 60)
    named["reciprocal_rank"] = 0.5
    many = pd.concat([named] * (30_000 // len(named)), ignore_index=True)
    figure = relik_scatter(many)
    texts = [text for trace in figure.data if trace.text is not None for text in trace.text]
    assert len(texts) == 10_000
    told = sum(int(trace.name.split("(")[1][:-1].replace(",", "")) for trace in figure.data)
    assert told == len(many)
    assert f"Drawn: 10,000 of {len(many):,}, evenly by ReliK." in message_of(figure)
    points = np.concatenate([trace.customdata for trace in figure.data])
    drawn = many["relik"].to_numpy()[points]
    assert np.median(drawn) == pytest.approx(many["relik"].median(), rel=0.01)
    assert sum(map(len, texts)) < 2 * 2**20
    assert all("h" in text and "r" in text and "t" in text for text in texts)


def test_texts_of_the_scatter_are_no_markup(comparison):
    named = comparison.triples.assign(head=HOSTILE, relation=HOSTILE, tail="x" * 1000)
    figure = relik_scatter(named)
    texts = [text for trace in figure.data if trace.text is not None for text in trace.text]
    assert texts
    assert not [text for text in texts if "<" in text]
    assert all(text.endswith("x…" + "x" * 29) and len(text) < 250 for text in texts)
