"""How results were computed, as pages tell it."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from kgdash.files.table_cache import cached_table
from kgdash.ui.widgets.provenance import tables_behind
from kgdash.version import __version__
from tests.support.fakes import fake_run, make_graph, random_scorer

GRAPH = make_graph([(0, 0, 1), (1, 1, 2)], [(2, 0, 0)], [(0, 1, 0)])

TABLE = pd.DataFrame({"x": [1]})

pytestmark = pytest.mark.own_cache


@pytest.fixture
def run(keep_all):
    return fake_run(GRAPH, random_scorer(3, 2))


def test_the_tables_of_a_run_and_of_its_graph(run):
    run.relik(method="sampled", seed=5)
    for kind, graph in (("patterns", run.graph.digest), ("rules", "another")):
        cached_table({"kind": kind, "graph": graph}, lambda: TABLE, {"kind": kind})
    cached_table({"other": 1}, lambda: TABLE, {"run_digest": "another"})
    table = tables_behind(run)
    assert sorted(table["kind"]) == ["patterns", "relik"]
    (row,) = table[table["kind"] == "relik"].to_dict("records")
    assert (row["seed"], row["version"], row["run_digest"]) == (5, __version__, run.digest)
    assert row["graph_digest"] == run.graph.digest
    assert row["command"] == "Python"


def test_those_that_come_with_kgdash_are_told_of(bundled):
    run = bundled("fb15k-237-complex")
    table = tables_behind(run)
    assert len(table)
    assert set(table["command"]) == {"came with kgdash"}


def page(run):
    """Stand for a page; AppTest runs its source, so it imports inside."""
    from kgdash.ui.runtime.sidebar import lay_out_sidebar
    from kgdash.ui.widgets.provenance import offer_provenance

    lay_out_sidebar()
    offer_provenance(run)


def test_a_click_tells(run):
    run.relik()
    app = AppTest.from_function(page, default_timeout=30, kwargs={"run": run}).run()
    assert not app.dataframe
    app.button(key="provenance").click().run()
    assert not app.exception
    assert len(app.dataframe[0].value) == 1
    (facts,) = [m.value for m in app.markdown if "This machine" in m.value]
    assert run.digest in facts
    assert run.graph.digest in facts
