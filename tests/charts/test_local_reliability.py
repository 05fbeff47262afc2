"""The figures of the page Local reliability show names as they are."""

import pytest

from kgdash.charts.local_reliability import relik_scatter
from kgdash.charts.subgraph import layout, pairs_of, subgraph_figure
from kgdash.studies.reliability.local_comparison import compare

HOSTILE = "<b>bold</b> & <a href='x'>link</a>"


@pytest.fixture(scope="module")
def comparison(bundled):
    run = bundled("umls-transe")
    return compare(run, run.subgraph(5, size=14))


@pytest.mark.parametrize("size", [5, 14])
def test_labels_are_no_markup(bundled, size):
    run = bundled("umls-transe")
    part = run.subgraph(5, size=size)
    triples = compare(run, part).triples
    placed = layout(part.entities, pairs_of(triples))
    labels = [HOSTILE] * run.graph.num_entities
    figure = subgraph_figure(part.entities, labels, part.seed_entity, triples, placed, "all")
    shown = str(figure.to_dict())
    assert "&lt;b&gt;bold" in shown
    assert "<b>" not in shown
    assert "<a " not in shown


def test_texts_of_the_scatter_are_no_markup(comparison):
    figure = relik_scatter(comparison.triples, [HOSTILE] * len(comparison.triples))
    texts = [text for trace in figure.data if trace.text is not None for text in trace.text]
    assert texts
    assert not [text for text in texts if "<" in text]
