"""The page Correlation study shows what `kgdash.studies.correlation.correlation` computes."""

import numpy as np
import pytest

import kgdash
from kgdash.charts.correlation import task_label
from kgdash.graph.subgraph import SubgraphSampling
from kgdash.statistics.bootstrap import Bootstrap
from kgdash.statistics.estimate import number
from kgdash.studies.correlation.correlation import correlation_studies, correlation_study
from kgdash.studies.correlation.models_table import marked, models_table
from kgdash.studies.correlation.study_verdict import study_verdict, sweep_verdict
from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation
from tests.pages.driver import cards, choose, open_page, table


def assert_shows(app, found, task, coefficient="pearson"):
    row = found[(found["task"] == task) & (found["coefficient"] == coefficient)].iloc[0]
    label = {"pearson": "Pearson r", "kendall": "Kendall τ"}[coefficient]
    assert cards(app) == {
        f"{label}: ReliK, {task_label(task)}": number(row["value"]),
        "p-value": number(row["p_permutation"]),
        "Subgraphs": f"{row['subgraphs']}",
    }
    interval = f"95%: {number(row['low'])} to {number(row['high'])}"
    assert [card.delta for card in app.main.metric] == [
        interval,
        f"Holm: {number(row['p_holm'])}",
        f"{row['left_out']} left out" if row["left_out"] else "none left out",
    ]
    verdict = study_verdict(found, task, coefficient, task_label(task))
    assert app.main.markdown[0].value == verdict
    shown = table(app, "coefficient", "p_holm")
    assert shown["task"].tolist() == [task_label(task) for task in found["task"]]
    for column in ("value", "p", "p_permutation", "p_holm", "low", "high"):
        np.testing.assert_array_equal(shown[column], found[column])


@pytest.fixture
def app():
    return open_page("study", subgraphs="12", study_size="8")


def test_one_run_with_other_choices(run, app):
    figures, found = correlation_study(run, [8], SubgraphSampling(12))
    assert found["left_out"].gt(0).any()
    assert_shows(app, found, "tail_mrr")
    every = table(app, "walk_seed", "relik")
    assert every["seed_entity"].tolist() == [run.graph.entities[e] for e in figures["seed_entity"]]
    np.testing.assert_array_equal(every["accuracy"], figures["accuracy"])

    choose(app, task="accuracy", coefficient="kendall", study_evaluated="all triples", study_seed=3)
    _, found = correlation_study(
        run,
        [8],
        SubgraphSampling(12, seed=3),
        SubgraphEvaluation("all", seed=3),
        Bootstrap(seed=3),
    )
    assert_shows(app, found, "accuracy", "kendall")

    choose(app, study_method="Neighbourhood", study_direction="outgoing", study_hops=2)
    sampling = SubgraphSampling(12, 8, "neighbourhood", direction="outgoing", hops=2, seed=3)
    evaluation = SubgraphEvaluation("all", seed=3)
    _, found = correlation_study(run, [8], sampling, evaluation, Bootstrap(seed=3))
    assert_shows(app, found, "accuracy", "kendall")


def test_sizes(run, app):
    choose(app, view="Sizes", sizes=[30, 10])
    _, found = correlation_study(run, [10, 30], SubgraphSampling(12))
    shown = table(app, "coefficient", "p_holm")
    expected = found[found["coefficient"] == "pearson"]
    assert shown["size"].tolist() == expected["size"].tolist()
    np.testing.assert_array_equal(shown["value"], expected["value"])
    choose(app, sizes=[])
    assert [info.value for info in app.main.info] == ["Choose at least one size."]


def test_several_runs():
    url = {"subgraphs": "12", "study_size": "8", "view": "Several runs", "with": "umls-rotate"}
    app = choose(open_page("study", **url), task="head_hits_at_1")
    runs = {name: kgdash.load(name) for name in ("umls-transe", "umls-rotate")}
    _, found = correlation_studies(runs, [8], SubgraphSampling(12))
    tasks = ["tail_mrr", "relation_mrr", "accuracy", "head_mrr", "both_mrr", "head_hits_at_1"]
    mine = found[found["task"] == "head_hits_at_1"]
    said = sweep_verdict(mine, "pearson", task_label("head_hits_at_1"), "runs")
    assert app.main.markdown[0].value == said
    expected = marked(models_table(found, tasks=tasks, p="p_permutation")).drop(columns="size")
    shown = table(app, "run", "accuracy")
    assert shown.to_numpy().tolist() == expected.to_numpy().tolist()
    assert shown.columns.tolist() == expected.columns.tolist()
