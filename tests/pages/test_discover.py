"""The page New facts shows what the library finds."""

import pandas as pd

from kgdash.studies.discovery.discovery import DiscoverySetting
from kgdash.studies.discovery.discovery_verdict import discovery_verdict
from kgdash.ui.inspection import discovery_form
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import choose, open_page, table


def test_it_lists_new_facts(bundled):
    run = bundled("umls-complex")
    app = open_page("discover", run="umls-complex")
    found = run.discover(100, types="seen", loops=False)
    said = discovery_verdict(run, DiscoverySetting(100, types="seen"), found, plain)
    assert said in [text.value for text in app.main.markdown]
    shown = table(app, "softmax")
    assert shown["tail"].tolist() == run.graph.with_names(found)["tail"].tolist()
    app.toggle(key="new_loops").set_value(True)
    app = choose(app, new_by="score", new_types="any", new_quota="1")
    found = run.discover(100, "score", per_relation=1)
    shown = table(app, "score")
    assert shown["head"].tolist() == run.graph.with_names(found)["head"].tolist()
    assert shown["relation"].is_unique


def test_a_large_graph_opens_on_its_most_frequent_relation(bundled, monkeypatch):
    monkeypatch.setattr(discovery_form, "_MANY", 0)
    graph = bundled("umls-complex").graph
    most = pd.Series(graph.all_triples[:, 1]).value_counts()
    assert most.iloc[0] > most.iloc[1]
    app = open_page("discover", run="umls-complex")
    assert app.get_by_key("new_relations").value == [graph.relations[most.index[0]]]
    assert set(table(app, "softmax")["relation"]) == {graph.relation_labels[most.index[0]]}


def test_facts_of_several_relations_are_sentences_those_of_one_name_it_above(bundled):
    graph = bundled("umls-complex").graph
    shown = table(open_page("discover", run="umls-complex"), "fact")
    first = shown.iloc[0]
    assert first["fact"] == f"{first['head']} — {first['relation']} → {first['tail']}"
    app = open_page("discover", run="umls-complex", new_relations=graph.relations[0])
    shown = table(app, "probability")
    assert shown.columns[:3].tolist() == ["head", "tail", "probability"]
    assert "fact" not in shown
