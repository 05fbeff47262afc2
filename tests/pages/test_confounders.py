"""The page Confounders of ReliK shows what the library computes."""

import numpy as np
import pytest

from kgdash.charts.confounders import FACTOR_LABELS
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.studies.correlation.confounder_verdict import describe_partials, factor_verdict
from kgdash.studies.correlation.confounders import (
    class_table,
    factor_tests,
    triple_factors,
    triple_partials,
)
from kgdash.studies.correlation.subgraph_confounders import subgraph_factors, subgraph_partials
from tests.pages.driver import choose, open_page, table


@pytest.fixture(scope="module")
def factors(run):
    return triple_factors(run)


def test_factors_and_a_class(factors):
    app = open_page("confounders")
    expected = factor_tests(factors)
    shown = table(app, "measure", "p_holm")
    columns = ["value", "low", "high", "p", "p_permutation", "p_holm"]
    np.testing.assert_array_equal(shown[columns], expected[columns])
    assert shown["factor"].tolist()[0] == "degree of the head"
    verdict = f"{describe_partials(triple_partials(factors))} "
    verdict += factor_verdict(expected, FACTOR_LABELS)
    assert app.main.markdown[0].value == verdict
    assert len(app.get("plotly_chart")) == 2
    choose(app, factor="pattern")
    found = table(app, "lower_quartile")
    np.testing.assert_array_equal(found.to_numpy(), class_table(factors, "pattern").to_numpy())


def test_many_triples_are_drawn_as_cells(factors, monkeypatch):
    for module in ("kgdash.ui.correlation.confounders", "kgdash.charts.confounder_points"):
        monkeypatch.setattr(f"{module}.MOST_POINTS", len(factors) - 1)
    app = open_page("confounders")
    captions = " ".join(caption.value for caption in app.main.caption)
    assert "Colour: triples in a cell." in captions
    assert table(app, "measure", "p_holm")["triples"].tolist() == [len(factors)] * 6


def test_what_remains(run):
    app = open_page("confounders", view="What remains", side="tail", rank_type="pessimistic")
    choose(app, subgraphs=12, study_size=20, seed=3)
    partial = triple_partials(triple_factors(run, "test", "tail", "pessimistic"))
    of_subgraphs = subgraph_partials(
        *subgraph_factors(run, SubgraphSampling(12, 20, seed=3)), bootstrap=Bootstrap(seed=3)
    )
    said = [text.value for text in app.main.markdown]
    assert any(text.startswith(describe_partials(partial)) for text in said)
    of_tails = describe_partials(of_subgraphs[of_subgraphs["task"] == "tail_mrr"])
    assert f"Tail MRR: {of_tails}" in said
    shown = table(app, "task", "freedom")
    for column in ("value", "low", "high"):
        np.testing.assert_array_equal(shown[column], of_subgraphs[column])
