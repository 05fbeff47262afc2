"""The page Prognosis shows what `kgdash.studies.correlation.performance_prediction` computes."""

import numpy as np
import pytest

from kgdash.charts.style import number
from kgdash.studies.correlation.performance_prediction import expect, prognosis_of_run
from tests.pages.driver import cards, choose, messages, open_page, table


@pytest.fixture
def app():
    return open_page("prognosis", here_entity="virus", here_size="12", subgraphs="24")


def assert_shows(app, run, entity="virus", **arguments):
    arguments = {"count": 24, "size": 12, **arguments}
    found, learnt = prognosis_of_run(run, **arguments)
    here = run.subgraph(entity, size=12, seed=arguments.get("seed", 0))
    evaluated = arguments.get("evaluated", "test")
    row = expect(run, found, learnt, [here], evaluated).iloc[0]
    shown = cards(app)
    label = {"tail_mrr": "tail MRR", "accuracy": "classification accuracy"}[found.task]
    assert shown[f"Expected {label}"] == number(row["predicted"])
    assert shown[f"True {label}"] == number(row["observed"])
    assert shown["Mean ReliK"] == number(row["relik"])
    deltas = {card.label: card.delta for card in app.main.metric}
    ends = f"{number(row['low'])} to {number(row['high'])}"
    assert deltas[f"Expected {label} ↑"] == f"{round(100 * found.level)} %: {ends}"
    errors = found.errors.set_index(["scheme", "curve"])
    apart = errors.loc[("apart", "linear"), "subgraphs"] >= 10
    scheme = "apart" if apart else "any"
    assert shown["R²"] == number(errors.loc[(scheme, found.curve), "r2"])
    there = found.errors[found.errors["subgraphs"] > 0]
    np.testing.assert_array_equal(table(app, "curve", "mae")["mae"], there["mae"])
    np.testing.assert_array_equal(
        table(app, "interval", "covered")["covered"],
        found.coverage.loc[found.coverage["subgraphs"] > 0, "covered"],
    )
    np.testing.assert_array_equal(table(app, "observed", "predicted")["low"], found.points["low"])
    return row, apart


def test_at_first_and_with_other_choices(run, app):
    assert_shows(app, run)
    choose(
        app,
        task="accuracy",
        curve="isotonic",
        interval="split conformal",
        level="80 %",
        here_seed=3,
        here_evaluated="all triples",
    )
    row, apart = assert_shows(
        app,
        run,
        task="accuracy",
        curve="isotonic",
        interval="split",
        level=0.8,
        seed=3,
        evaluated="all",
    )
    assert any("share evaluated triples" in text for text in messages(app)) != apart
    told = [c.value for c in app.main.caption if c.value.startswith("Fewer than 10")]
    assert bool(told) != row["apart"]


def test_too_few_values_to_learn_from(app):
    choose(app, here_size=2)
    assert [error.value.split(":")[0] for error in app.main.error] == [
        "too few subgraphs with a value of tail_mrr to learn from"
    ]


def test_no_triple_and_no_evaluated_triple_inside(run, app):
    choose(app, here_method="Neighbourhood")
    found, learnt = prognosis_of_run(run, count=24, size=12, method="neighbourhood")
    row = expect(run, found, learnt, [run.subgraph("virus", "neighbourhood", 12)]).iloc[0]
    assert cards(app)["True tail MRR"] == number(row["observed"])
