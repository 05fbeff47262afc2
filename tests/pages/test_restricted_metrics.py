"""The page Metrics of a part of the graph, and raw figures beside filtered ones."""

import kgdash
from kgdash.graph.restriction import Restriction, restrict
from kgdash.statistics.estimate import number
from kgdash.ui.widgets import names_choice
from tests.pages.driver import cards, choose, choose_folder, messages, open_page


def mrr(run, filter=None, **restriction) -> str:
    ranks = run.ranks(filter=filter, restriction=Restriction(**restriction))
    return number(kgdash.metrics(ranks).value("mrr"))


def test_raw_stands_beneath_filtered(run):
    app = open_page("metrics")
    assert app.main.metric[0].value == mrr(run)
    assert app.main.metric[0].delta == f"raw {mrr(run, filter='none')}"
    choose(app, filter_test="none")
    assert app.main.metric[0].value == mrr(run, filter="none")
    assert not app.main.metric[0].delta


def test_relations_lists_and_degrees(run):
    graph = run.graph
    app = choose(open_page("metrics"), relations=["causes", "affects"], min_degree=60)
    only = restrict(graph, ["causes", "affects"], min_degree=60)
    arguments = {"entities": only.entities, "relations": only.relations}
    assert cards(app)["Mean reciprocal rank (MRR)"] == mrr(run, **arguments)
    assert app.main.metric[0].delta == f"raw {mrr(run, filter='none', **arguments)}"
    left = only.count(graph, graph.split("test"))
    assert any(
        f"{left['triples']:,} of 661 test triples, {left['entities']} of 135 entities" in c.value
        for c in app.main.caption
    )
    choose(app, relations=[], min_degree=0, only_entities="virus\nvirusses")
    (error,) = (e.value for e in app.error)
    assert error.startswith("unknown entity 'virusses'")
    assert error.endswith("(the pasted list, line 2)")
    choose(app, only_entities="")
    assert cards(app)["Mean reciprocal rank (MRR)"] == mrr(run)


def test_a_restriction_that_leaves_nothing_says_so():
    app = choose(open_page("metrics"), only_entities="virus")
    assert "none of the 661 triples" in app.error[0].value
    assert not app.main.metric


def test_the_address_restricts_and_leaks_are_told(run):
    app = open_page("metrics", relations="causes")
    relations = [run.graph.relation_id("causes")]
    assert cards(app)["Mean reciprocal rank (MRR)"] == mrr(run, relations=relations)
    assert not messages(app)
    choose(app, split="valid", filter_valid="train+valid+test")
    assert "Test leaks" in messages(app)[0]


def test_relations_that_another_graph_does_not_have_are_dropped(pykeen_directory):
    app = choose(open_page("metrics"), relations=["causes"])
    choose_folder(app, pykeen_directory, "nations")
    loaded = kgdash.load(pykeen_directory, "nations")
    assert cards(app)["Mean reciprocal rank (MRR)"] == mrr(loaded)


def test_of_many_relations_some_are_listed_and_others_typed(run, monkeypatch):
    """Streamlit looked for 19,000 forged choices among 65,536 types, and others' pages waited."""
    monkeypatch.setattr(names_choice, "_OFFERED", 3)
    app = open_page("metrics", relations="causes")
    listed = app.get_by_key("relations")
    assert listed.options == [*map(str, run.graph.relations[:3])]
    assert "causes" not in listed.options
    assert "The first 3 of 46 are listed" in listed.help
    relations = [run.graph.relation_id("causes")]
    assert cards(app)["Mean reciprocal rank (MRR)"] == mrr(run, relations=relations)
    (error,) = open_page("metrics", relations="cause").error
    assert error.value.startswith("unknown relation 'cause'")
