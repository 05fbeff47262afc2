"""The first visitor of a fresh server may come by the address of any page.

Streamlit does not know dashboard.py then and runs the page's file alone, as AppTest does.
"""

import pytest
from streamlit.testing.v1 import AppTest

from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import run
from tests.support.paths import ROOT


@pytest.fixture(autouse=True)
def _app_runs_before_each_page():
    """Leave AppTest as it is."""


@pytest.mark.parametrize("page", ["cache", "metric_guide", "metrics"])
def test_the_page_comes_with_its_sidebar(page):
    app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=60)
    run(app.switch_page(f"pages/{page}.py"))
    assert len(app.title) == 1
    assert app.get_by_key("run").value == "umls-transe"


def test_it_opens_on_names_that_everybody_knows(monkeypatch):
    monkeypatch.delenv("KGDASH_DEFAULT_RUN")
    app = AppTest.from_file(str(ROOT / "dashboard.py"), default_timeout=60)
    run(app.switch_page("pages/overview.py"))
    assert app.title[0].value == f"Where can ComplEx on {plain('FB15k-237')} be trusted?"
    assert {card.label: card.value for card in app.metric}["Test MRR ↑"] == "0.328"
