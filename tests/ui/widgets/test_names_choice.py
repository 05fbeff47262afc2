"""A choice of relations shows each by a text of its own."""

from dataclasses import replace

from kgdash.ui.widgets.names_choice import relation_texts
from tests.support.instance_fakes import small_graph


def test_relations_of_one_label_are_told_apart():
    """Streamlit takes the first of equal texts: one label's second relation was the first."""
    graph = small_graph([(0, 0, 1), (1, 1, 2), (0, 2, 2)])
    names = tuple(graph.relations)
    assert relation_texts(graph) == dict(zip(names, names, strict=True))
    labelled = replace(graph, relation_labels=("acts on", "acts on", "ends"))
    texts = relation_texts(labelled)
    assert list(texts) == list(names)
    assert texts[names[2]] == "ends"
    assert texts[names[0]] == f"acts on ({names[0]})"
    assert len(set(texts.values())) == 3
    assert [labelled.relation_id(text) for text in texts.values()] == [0, 1, 2]
