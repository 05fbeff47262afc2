"""Every chart says its message: with its values, and another one for other data."""

import importlib
import inspect
import pkgutil

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import kgdash.charts
from kgdash.charts import (
    breakdowns,
    candidate_subsampling,
    classification,
    comparison,
    confounder_points,
    confounders,
    correlation,
    group_rows,
    hyperparameter_search,
    inspection,
    instance_distribution,
    instance_path,
    instance_thresholds,
    local_reliability,
    metrics,
    model_selection,
    performance_prediction,
    reliability_map,
    run_pairs,
    score_health,
    separation,
    subgraph,
)
from kgdash.charts.message import along, bulk, by_halves, message_of, of_each
from kgdash.charts.style import empty
from kgdash.ranking.metric_lookup import metric_records
from kgdash.studies.instances.thresholds import rates_at, threshold_curve
from kgdash.studies.reliability.local_comparison import Mean
from tests.charts import example_tables as tables
from tests.charts.example_tables import MRR

SCALE = reliability_map.ReliKScale(0.001, 0.1, 1)

#: what makes or finishes figures for the others
HELPERS = {"style.finish", "style.empty", "message.with_message", "export.on_background"}
HELPERS |= {"comparison.run_heatmap", "group_rows.group_rows"}


def seeds(k):
    spread = tables.frame(side=["tail"], seeds=2, mean=[0.3 * k], standard_deviation=[0.1])
    return comparison.seed_dots(tables.of_runs(k), spread, MRR)


def by_relik(k):
    table = tables.frame(relik=[0.01, 0.1], relik_least=0.001, relik_most=0.2, true=9)
    for name in ("recall", "accuracy"):
        table[name], table[f"{name}_low"], table[f"{name}_high"] = [0.5 * k, 0.8], 0.1, 0.9
    return classification.relik_accuracy_figure(table)


def study(k):
    table = tables.frame(relik=[0.1, 0.2, 0.3, 0.4], tail_mrr=k * np.array([0.2, 0.4, 0.6, 0.8]))
    band = tables.frame(relik=[0.1], mean=[0.2], low=[0.1], high=[0.3])
    return correlation.study_scatter(table.assign(evaluated=4), "tail_mrr", band, list("abcd"))


def plane(k):
    marked = tables.frame(id=[0, 1], group=["head", "tail"], x=[1.0 * k, 2.0], y=[3.0, 4.0])
    return inspection.plane_figure(np.zeros((2, 2)), marked, ["a", "b"], (0.5, 0.25))


def instances(k):
    values = k * np.array([0.9, 0.8, 0.1, 0.2])
    table = tables.frame(
        group="2p", label=[True, True, False, False], relik_max=values, instance=range(4)
    )
    return instance_distribution.values_figure(table.assign(question="q", answer="b", groundings=1))


def path(k):
    table = tables.frame(
        head=[0], relation=[0], tail=[1], is_answer_triple=True, predicted_side="tail"
    )
    table = table.assign(relik=0.1 * k, split="train")
    return instance_path.path_figure(table, ["a", "b"], ["lives in"], True, SCALE)


def rates(k):
    curve = threshold_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))
    return instance_thresholds.rates_figure(curve, 0.6 * k, rates_at(curve, 0.6 * k))


def scatter(k):
    table = tables.frame(relik=[0.1, 0.2], reciprocal_rank=[0.3 * k, 0.6], split="test")
    return local_reliability.relik_scatter(table.assign(head="a", relation="r", tail=["b", "c"]))


def means(k):
    names = ("relik", "tail_mrr", "head_mrr", "both_mrr", "relation_mrr")
    return local_reliability.local_bars({name: Mean(0.5 * k, 9) for name in names})


def prediction(k):
    table = tables.frame(
        relik=[0.1, 0.2], observed=[0.3 * k, 0.6], predicted=0.4, low=0.2, high=0.5
    )
    return performance_prediction.prediction_scatter(table, table, "tail_mrr", ["a", "b"])


def a_subgraph(k):
    table = tables.frame(head=[0, 1], relation=0, tail=[1, 2], relik=[0.01 * k, 0.02])
    return subgraph.subgraph_figure(np.arange(3), list("abc"), 0, table, SCALE)


def candidates(k):
    columns = [metric_records()[key].key for key in metric_records()]
    table = tables.frame(candidates=[10.0, 100.0])
    return candidate_subsampling.candidates_lines(
        table.assign(**{column: [0.9 * k, 0.4] for column in columns})
    )


def by_protocol(k):
    table = tables.frame(protocol=["few", "many"] * 2, run=["a", "a", "b", "b"], sd=[0, 0.1] * 2)
    return candidate_subsampling.protocol_dots(table.assign(value=0.4 * k, exact=0.3), MRR)


#: chart -> its figure of data, which is other data for another k
EXAMPLES = {
    "breakdowns.group_bars": lambda k: breakdowns.group_bars(tables.a_breakdown(k), MRR, 0.5),
    "breakdowns.side_heatmap": lambda k: breakdowns.side_heatmap(
        tables.a_breakdown(k), MRR, ["a", "b"]
    ),
    "candidate_subsampling.candidates_lines": candidates,
    "candidate_subsampling.protocol_dots": by_protocol,
    "classification.roc_figure": lambda k: classification.roc_figure(
        tables.a_curve(k, "false_positive_rate", "true_positive_rate"), tables.CONFUSION
    ),
    "classification.pr_figure": lambda k: classification.pr_figure(
        tables.a_curve(k, "recall", "precision"), tables.CONFUSION
    ),
    "classification.labelled_histogram": lambda k: classification.labelled_histogram(
        tables.bins(k, true=1, false=1), 1.5
    ),
    "classification.calibration_figure": lambda k: classification.calibration_figure(
        tables.calibrated(k)
    ),
    "classification.calibrations_figure": lambda k: classification.calibrations_figure(
        {"a": tables.calibrated(k), "b": tables.calibrated(1)}
    ),
    "classification.confidence_figure": lambda k: classification.confidence_figure(
        {"fitted": tables.calibrated(k), "Platt": tables.calibrated(1)}
    ),
    "classification.relik_accuracy_figure": by_relik,
    "comparison.ambiguity_bars": lambda k: comparison.ambiguity_bars(tables.in_conflict(k), 0.3),
    "comparison.metric_dots": lambda k: comparison.metric_dots(tables.of_runs(k), MRR),
    "comparison.position_heatmap": lambda k: comparison.position_heatmap(
        tables.of_groups(k), MRR, ["a", "b"]
    ),
    "comparison.seed_dots": seeds,
    "confounder_points.factor_points": lambda k: confounder_points.factor_points(
        tables.named_triples(k), "head_degree"
    ),
    "confounder_points.class_boxes": lambda k: confounder_points.class_boxes(tables.classes(k)),
    "confounders.factor_forest": lambda k: confounders.factor_forest(tables.factors(k)),
    "confounders.partial_forest": lambda k: confounders.partial_forest(tables.partials(k)),
    "correlation.study_scatter": study,
    "correlation.task_intervals": lambda k: correlation.task_intervals(
        tables.coefficients(k), "pearson"
    ),
    "correlation.size_sweep": lambda k: correlation.size_sweep(
        tables.coefficients(k), "pearson", ["tail_mrr"]
    ),
    "hyperparameter_search.best_so_far": lambda k: hyperparameter_search.best_so_far(
        tables.trials(k)
    ),
    "hyperparameter_search.parallel_coordinates": lambda k: (
        hyperparameter_search.parallel_coordinates(
            tables.trials(k), {"lr": hyperparameter_search.CategoricalDistribution([0.1, 0.01])}
        )
    ),
    "hyperparameter_search.importance_bars": lambda k: hyperparameter_search.importance_bars(
        pd.Series({"lr": 0.6 * k, "dim": 1 - 0.6 * k})
    ),
    "inspection.candidate_histogram": lambda k: inspection.candidate_histogram(
        tables.bins(k, candidates=1, known=1), "tail", 1.5
    ),
    "group_rows.coverage_figure": lambda k: group_rows.coverage_figure(tables.covered(k), 0.1),
    "inspection.plane_figure": plane,
    "instance_distribution.values_figure": instances,
    "instance_path.path_figure": path,
    "instance_thresholds.rates_figure": rates,
    "local_reliability.relik_scatter": scatter,
    "local_reliability.local_bars": means,
    "metrics.metric_bars": lambda k: metrics.metric_bars(tables.metric_table(k), MRR),
    "metrics.rank_ecdf": lambda k: metrics.rank_ecdf(tables.ranks(k), "realistic"),
    "metrics.loss_curve": lambda k: metrics.loss_curve([3.0, 2.0, 1.0 * k]),
    "model_selection.choice_matrix": lambda k: model_selection.choice_matrix(
        tables.parts(k), ["one", "two"]
    ),
    "model_selection.regret_bars": lambda k: model_selection.regret_bars(tables.regrets(k)),
    "model_selection.difference_points": lambda k: model_selection.difference_points(
        tables.differences(k), "x", "y"
    ),
    "performance_prediction.prediction_scatter": prediction,
    "performance_prediction.coverage_figure": lambda k: performance_prediction.coverage_figure(
        tables.coverage(k)
    ),
    "reliability_map.reliability_dots": lambda k: reliability_map.reliability_dots(
        tables.regions(k), SCALE
    ),
    "reliability_map.community_map": lambda k: reliability_map.community_map(
        tables.regions(k), tables.links(), SCALE
    ),
    "reliability_map.baseline_figure": lambda k: reliability_map.baseline_figure(
        tables.regions(k), np.arange(9.0)
    ),
    "run_pairs.pair_forest": lambda k: run_pairs.pair_forest(tables.pairs(k)),
    "run_pairs.community_forest": lambda k: run_pairs.community_forest(
        tables.communities(k), "a", "b"
    ),
    "run_pairs.rank_density": lambda k: run_pairs.rank_density(tables.grid(k), "a", "b"),
    "run_pairs.win_bars": lambda k: run_pairs.win_bars(tables.wins(k), ["r"], "a", "b"),
    "score_health.score_histogram": lambda k: score_health.score_histogram(
        tables.bins(k, true=1, candidates=1)
    ),
    "score_health.gap_bars": lambda k: score_health.gap_bars(tables.relations(k), "head"),
    "score_health.tie_bars": lambda k: score_health.tie_bars(tables.tied(k)),
    "separation.means_figure": lambda k: separation.means_figure(tables.separated(k)),
    "separation.auc_figure": lambda k: separation.auc_figure({"relik": tables.separated(k)}),
    "subgraph.subgraph_figure": a_subgraph,
    "metrics.training_curves": lambda k: metrics.training_curves([3.0, k], [(1, 0.25), (2, k)], 9),
}


def charts():
    for module in pkgutil.iter_modules(kgdash.charts.__path__):
        found = importlib.import_module(f"kgdash.charts.{module.name}")
        for name, function in inspect.getmembers(found, inspect.isfunction):
            own = function.__module__ == found.__name__ and not name.startswith("_")
            if own and function.__annotations__.get("return") in (go.Figure, "go.Figure"):
                yield f"{module.name}.{name}"


def test_there_is_an_example_of_every_chart():
    assert set(charts()) == set(EXAMPLES) | HELPERS


@pytest.mark.parametrize("chart", EXAMPLES)
def test_a_chart_says_its_values(chart):
    once, again, other = (message_of(EXAMPLES[chart](k)) for k in (1, 1, 0.5))
    assert once == again != other
    assert sum(letter.isdigit() for letter in once) >= 2
    assert once.endswith(".")
    assert not {"nan", "None", "<br>"} & set(once.split())


def test_nothing_to_show_says_why():
    assert message_of(empty("no score is finite")) == "no score is finite"
    assert message_of(go.Figure()) == ""


def test_few_values_are_named_and_of_many_the_ends():
    assert of_each(["a", "b", "c"], [0.5, np.nan, 0.25]) == "a 0.500, c 0.250"
    assert of_each(["a"], [0.5], [0.4], [0.6]) == "a 0.500 (0.400 to 0.600)"
    assert of_each(["a"], [0.5], [np.nan], [np.nan]) == "a 0.500"
    assert of_each("abcdefg", [7, 1, 2, 3, 4, 5, 6]) == (
        "highest a 7, then g 6; lowest b 1; median 4.00 of 7"
    )


def test_halves_have_their_medians():
    text = by_halves("x", [4, 1, 3, 2], "y", [8, 1, 6, 3])
    assert "median y 2.00 in the half with lower x, 7.00 in the other" in text
    assert "x from 1.00 to 4.00, y from 1.00 to 8.00" in text
    text = by_halves("x", [2, 1, 2, 2, 9, 9], "y", [6, 1, 7, 8, 9, 11])
    assert "median y 6.50 in the half with lower x, 10.0 in the other" in text
    text = by_halves("x", [3, 3, 3], "y", [1, 7, 8])
    assert text == "3 points; x 3.00, median y 7.00. y from 1.00 to 8.00"
    assert by_halves("x", [1], "y", [2]) == "x 1.00, y 2.00"
    assert by_halves("x", [], "y", []) == "no point"


def test_a_line_from_end_to_end():
    assert along("loss", "epoch", [1, 2, 3], [3, 2, 1]) == (
        "loss from 3.00 at epoch 1 to 1.00 at 3"
    )
    assert along("loss", "epoch", [1, 2, 3], [3, 9, 1]).endswith(", between 1.00 and 9.00")


def test_where_half_of_a_histogram_lies():
    assert bulk("scores", [0, 1, 2], [1, 2, 3], [1, 8, 1]) == (
        "half of 10 scores lie between 1.00 and 2.00"
    )
    assert bulk("scores", [0], [1], [0]) == "no scores"
