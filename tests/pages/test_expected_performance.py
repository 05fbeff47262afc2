"""The page Expected performance shows what the library computes."""

import numpy as np
import pytest

from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.estimate import number
from kgdash.studies.correlation.performance_prediction import (
    predict_performance_of_run,
    predict_subgraphs,
)
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.pages.driver import cards, choose, messages, open_page, table

SAMPLING = SubgraphSampling(24, 12)


@pytest.fixture
def app():
    return open_page("expected_performance", here_entity="virus", here_size="12", subgraphs="24")


def assert_shows(
    app, run, task="tail_mrr", sampling=SAMPLING, evaluation=SubgraphEvaluation(), level=0.9
):
    found, learnt = predict_performance_of_run(run, task, sampling, evaluation, level)
    here = sampling.pick(run.graph, run.graph.entity_id("virus"))
    row = predict_subgraphs(run, found, learnt, [here], evaluation).iloc[0]
    shown = cards(app)
    label = {"tail_mrr": "tail MRR", "accuracy": "classification accuracy"}[found.task]
    assert shown[f"Expected {label}"] == number(row["predicted"])
    assert shown[f"Measured {label}"] == number(row["observed"])
    assert shown["Mean ReliK"] == number(row["relik"])
    deltas = {card.label: card.delta for card in app.main.metric}
    ends = f"{number(row['low'])} to {number(row['high'])}"
    assert deltas[f"Expected {label} ↑"] == f"{round(100 * found.level)}%: {ends}"
    unit = "triples" if found.task == "accuracy" else "ranks"
    if row["evaluated"]:
        assert deltas[f"Measured {label} ↑"].endswith(f"n = {row['evaluated']:,} {unit}")
    errors = found.errors.set_index(["scheme", "curve"])
    disjoint = errors.loc[("disjoint", "linear"), "subgraphs"] >= 10
    scheme = "disjoint" if disjoint else "overlapping"
    assert shown["R²"] == number(errors.loc[(scheme, "linear"), "r2"])
    there = found.errors[found.errors["subgraphs"] > 0]
    np.testing.assert_array_equal(table(app, "curve", "mae")["mae"], there["mae"])
    np.testing.assert_array_equal(
        table(app, "level", "covered")["covered"],
        found.coverage.loc[found.coverage["subgraphs"] > 0, "covered"],
    )
    np.testing.assert_array_equal(table(app, "observed", "predicted")["low"], found.points["low"])
    return row, disjoint


def test_at_first_and_with_other_choices(run, app):
    assert_shows(app, run)
    choose(
        app,
        task="accuracy",
        level="80%",
        here_seed=3,
        here_evaluated="all triples",
    )
    row, disjoint = assert_shows(
        app,
        run,
        task="accuracy",
        sampling=SubgraphSampling(24, 12, seed=3),
        evaluation=SubgraphEvaluation("all"),
        level=0.8,
    )
    assert any("share evaluated triples" in text for text in messages(app)) != disjoint
    notes = [c.value for c in app.main.caption if c.value.startswith("Fewer than 10")]
    assert bool(notes) != row["disjoint"]


def test_too_few_values_to_learn_from(app):
    choose(app, here_size=2)
    assert [error.value.split(":")[0] for error in app.main.error] == [
        "too few subgraphs with a value of tail_mrr to learn from"
    ]


def test_no_triple_and_no_evaluated_triple_inside(run, app):
    choose(app, here_method="Neighbourhood")
    found, learnt = predict_performance_of_run(
        run, "tail_mrr", SubgraphSampling(24, 12, "neighbourhood")
    )
    row = predict_subgraphs(run, found, learnt, [run.subgraph("virus", "neighbourhood", 12)]).iloc[
        0
    ]
    assert cards(app)["Measured tail MRR"] == number(row["observed"])
