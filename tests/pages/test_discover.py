"""The page New facts shows what the library finds."""

from kgdash.studies.discovery.discovery import DiscoverySetting
from kgdash.studies.discovery.discovery_verdict import discovery_verdict
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import choose, open_page, table


def test_it_lists_new_facts(bundled):
    run = bundled("umls-complex")
    app = open_page("discover", run="umls-complex")
    found = run.discover(100)
    said = discovery_verdict(run, DiscoverySetting(100), found, plain)
    assert said in [text.value for text in app.main.markdown]
    shown = table(app, "softmax")
    assert shown["tail"].tolist() == run.graph.with_names(found)["tail"].tolist()
    app = choose(app, order="score", types="seen", quota="1")
    found = run.discover(100, "score", types="seen", per_relation=1)
    shown = table(app, "score")
    assert shown["head"].tolist() == run.graph.with_names(found)["head"].tolist()
    assert shown["relation"].is_unique
