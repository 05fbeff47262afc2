"""Choices are among what is offered, whatever a message made by hand says."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest


def choices_page():
    import streamlit as st

    from kgdash.ui.widgets.choices import choice, choose_number, choose_one

    st.text(choice("One", {"a": "A", "b": "B"}, "one", "b"))
    st.text(choose_one("Other", ["c", "d"], "other"))
    st.text(choose_number("Number", (1, 5), 3, "number"))
    choose_number("Of a graph of one entity", (2, 1), 60, "few")


def shown(**said) -> list[str]:
    app = AppTest.from_function(choices_page, default_timeout=60).run()
    states = WidgetStates()
    for key, (field, value) in said.items():
        state = states.widgets.add()
        state.id = app.get_by_key(key).id
        if field == "string_array_value":
            state.string_array_value.data.append(value)
        else:
            setattr(state, field, value)
    app._run(states)
    assert not app.exception
    return [text.value for text in app.text]


@pytest.mark.parametrize("text", ["", "c", "../../etc", "\u202eb", "x" * 10**5])
def test_what_is_not_offered_is_not_chosen(text):
    assert shown(one=("string_value", text)) == ["b", "c", "3"]
    other = text if text == "c" else "e" + text
    assert shown(other=("string_array_value", other)) == ["b", "c", "3"]


def test_what_is_offered_is():
    assert shown(one=("string_value", "A"), other=("string_array_value", "d")) == ["a", "d", "3"]


@pytest.mark.parametrize("number", [0, 6, 1e9, -1e300])
def test_numbers_stay_within_their_bounds(number):
    assert shown(number=("double_value", number)) == ["b", "c", "3"]
