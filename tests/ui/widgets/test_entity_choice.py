"""Entities are found by what is typed; what fits none is said."""

from types import SimpleNamespace

import numpy as np
from streamlit.testing.v1 import AppTest

from kgdash.ui.widgets import entity_choice


def choice_page(typed, before):
    import streamlit as st

    import kgdash
    from kgdash.ui.widgets.entity_choice import choose_entity_or_none, show_unknown_entity

    graph = kgdash.load("umls-transe").graph
    st.session_state["tail"] = typed
    st.session_state["chosen tail"] = before
    st.text(choose_entity_or_none(graph, "Tail", "tail", "?"))
    show_unknown_entity("tail")


def shown(typed, before="virus") -> tuple[str, list[str]]:
    kwargs = {"typed": typed, "before": before}
    app = AppTest.from_function(choice_page, default_timeout=60, kwargs=kwargs).run()
    assert not app.exception
    return app.text[0].value, [warning.value for warning in app.warning]


def test_a_name_or_a_part_of_one():
    assert shown("virus") == ("virus", [])
    assert shown("neoplastic_pro") == ("neoplastic_process", [])


def test_none():
    assert shown("?") == ("None", [])


def test_what_fits_nothing_is_said_and_what_was_chosen_stays():
    said = ["No entity “no such thing” in this graph; showing virus."]
    assert shown("no such thing") == ("virus", said)
    assert shown("", "of another graph")[0] == "disease_or_syndrome", "of the highest degree"


def choices_page():
    import streamlit as st

    import kgdash
    from kgdash.ui.widgets.entity_choice import choose_entities, show_unknown_entity

    graph = kgdash.load("umls-transe").graph
    found = choose_entities(graph, "Entities", "entities", "These alone.")
    st.text(" ".join(graph.entities[entity] for entity in found))
    show_unknown_entity("entities")


def test_several_of_which_the_browser_was_sent_few(monkeypatch):
    monkeypatch.setattr(entity_choice, "_OFFERED", 3)
    typed = ["virus", "neoplastic_pro", "no such thing", "cell_"]
    app = AppTest.from_function(choices_page, default_timeout=60)
    app.query_params["entities"] = typed
    assert not app.run().exception
    assert len(app.multiselect[0].options) == 3
    assert [warning.value for warning in app.warning] == [
        "No entity “no such thing” in this graph: left out."
    ]
    among = app.radio(key="entities_among_cell_")
    assert set(among.options) >= {"cell\\_component", "cell\\_function"}
    assert set(app.text[0].value.split()) == {"virus", "neoplastic_process", among.value}
    among.set_value("cell_function").run()
    assert "cell_function" in app.text[0].value.split()


def test_offered_are_those_of_highest_degree_equal_ones_by_id(monkeypatch):
    rng = np.random.default_rng(0)
    for few in (1, 7, 50, 60):
        monkeypatch.setattr(entity_choice, "_OFFERED", few)
        for most in (1, 4, 40):
            graph = SimpleNamespace(degrees=rng.integers(0, most, 50))
            in_order = sorted(range(50), key=lambda e, d=graph.degrees: (-d[e], e))
            assert entity_choice._offered(graph) == in_order[:few]
