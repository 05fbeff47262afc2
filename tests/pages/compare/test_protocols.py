"""The page Sampled protocols shows what the library computes, of several runs and of one."""

import pytest

from kgdash.studies.protocols.orders import protocol_orders
from kgdash.studies.protocols.protocol_verdict import protocol_verdict
from kgdash.studies.protocols.protocols import ProtocolSetting
from kgdash.ui.runtime.markdown import plain
from tests.pages.driver import choose, open_page, table

NAMES = ("umls-rotate", "umls-complex", "umls-conve")


def test_runs_that_flip(bundled):
    runs = [bundled(name) for name in NAMES]
    app = open_page("protocols", run=NAMES[0], **{"with": list(NAMES[1:]), "negatives": "20"})
    found = protocol_orders(runs, ProtocolSetting((20,)))
    triples = len(runs[0].graph.splits["test"])
    assert protocol_verdict(found, "mrr", triples, plain) in [t.value for t in app.main.markdown]
    shown = table(app, "corrected")
    mrr = found.values[(found.values["metric"] == "mrr") & (found.values["sd"] > 0)]
    sampled = shown[shown["sd"] > 0]
    assert sampled["value"].tolist() == pytest.approx(mrr["value"].tolist())
    assert sampled["sd"].tolist() == pytest.approx(mrr["sd"].tolist())
    flips = found.flips[found.flips["metric"] == "mrr"]
    assert len(flips)
    listed = table(app, "better", "worse")
    assert listed["worse"].tolist() == flips["worse"].tolist()
    app = choose(app, by_metric="hits@10", protocol_side="tail")
    found = protocol_orders(runs, ProtocolSetting((20,), side="tail"))
    orders = found.orders[found.orders["metric"] == "hits@10"]
    assert table(app, "tau", "flips")["flips"].tolist() == orders["flips"].tolist()


def test_one_run_has_no_order():
    app = choose(open_page("protocols", run="umls-transe"), **{"with": []})
    assert table(app, "corrected")["run"].unique().tolist() == ["umls-transe"]
    assert not [frame for frame in app.dataframe if "tau" in frame.value]
