"""Pages run by Streamlit's AppTest, and the run to check their numbers against."""

import re

import pytest
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1.element_tree import AlertBase

from kgdash.ui.runtime.result_cache import memory
from tests.support.app_tests import holds_run, pages_declared


@pytest.fixture(scope="session")
def run(bundled):
    return bundled("umls-transe")


@pytest.fixture(autouse=True)
def _what_pages_remember(request):
    """Let pages take what earlier tests computed, as they take it of earlier visitors."""
    if request.node.get_closest_marker("own_cache"):
        memory.clear()


@pytest.fixture(autouse=True)
def _what_widgets_do_holds_no_run(monkeypatch):
    """Check all that pages show: sessions hold it, and there may be one for each run."""
    keep = WStates.set_widget_metadata

    def checked(self, about):
        acts = [about.callback, about.callback_args, about.callback_kwargs, about.callbacks]
        assert not any(map(holds_run, acts)), about.id
        keep(self, about)

    monkeypatch.setattr(WStates, "set_widget_metadata", checked)


@pytest.fixture(autouse=True)
def _app_runs_before_each_page():
    with pages_declared():
        yield


@pytest.fixture(autouse=True)
def _messages_as_people_read_them(monkeypatch):
    """Read messages without what keeps names in them from being read as Markdown."""
    read = property(lambda message: re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", message.proto.body))
    monkeypatch.setattr(AlertBase, "value", read)
