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
from kgdash.ranking.metrics import MetricsTable
from kgdash.studies.instances.thresholds import rates_at, threshold_curve
from kgdash.studies.reliability.local_comparison import Mean

MRR = metric_records()["inverse_harmonic_mean_rank"]
SCALE = reliability_map.ReliKScale(0.001, 0.1, 1)

#: what makes or finishes figures for the others
HELPERS = {"style.finish", "style.empty", "message.with_message", "export.on_background"}
HELPERS |= {"comparison.run_heatmap", "group_rows.group_rows"}


def frame(**columns):
    return pd.DataFrame(columns)


def rows(k, **columns):
    """Return three rows with a value and its interval, all ``k`` times as large."""
    ends = {"value": [0.5, 0.2, 0.4], "low": [0.4, 0.1, 0.3], "high": [0.6, 0.3, 0.5]}
    return frame(**columns, **{end: k * np.array(each) for end, each in ends.items()})


def of_runs(k):
    return rows(k, run=["one", "two", "two"], side=["tail", "tail", "both"], position=[1, 2, 1])


def of_groups(k):
    table = rows(k, group=["a", "a", "b"], run=["one", "two", "one"], side="both", small=False)
    return table.assign(position=pd.array([1, 2, 1] if k == 1 else [2, 1, 1], dtype="Int64"))


def a_breakdown(k):
    table = rows(k, group=["a", "b", "c"], side="tail", small=False, triples=40)
    return table.assign(tied_share=0.0, largest_tie=1)


def covered(k):
    table = rows(0.3 * k, group=["a", "b", "c"], n=[9, 80, 70], mean_size=2.0)
    return table.rename(columns={"value": "coverage"})


def in_conflict(k):
    table = rows(k / 2, group=["a", "b", "c"], queries=[9, 8, 7], small=[False, False, True])
    return table.rename(columns={"value": "ambiguity"})


def seeds(k):
    spread = frame(side=["tail"], seeds=2, mean=[0.3 * k], standard_deviation=[0.1])
    return comparison.seed_dots(of_runs(k), spread, MRR)


def a_curve(k, x, y):
    table = {"threshold": [np.inf, 0.5, 0.1], x: [0.0, 0.4, 1.0], y: [0.0, 0.9 * k, 1.0]}
    return pd.DataFrame(table)


CONFUSION = {"true_positive": 6, "false_positive": 2, "true_negative": 3, "false_negative": 4}


def bins(k, **names):
    counts = np.array([1, 8, 1] if k == 1 else [8, 1, 1])
    table = frame(left=[0.0, 1.0, 2.0], right=[1.0, 2.0, 3.0])
    shares = {f"{name}_share": counts / 10 for name in names}
    return table.assign(**dict.fromkeys(names, counts), **shares)


def calibrated(k):
    ends = {"predicted": [0.2, 0.8], "observed": [0.3 * k, 0.7], "low": 0.1, "high": 0.9}
    return frame(calibration="platt", count=9, **ends)


def by_relik(k):
    table = frame(relik=[0.01, 0.1], relik_least=0.001, relik_most=0.2, true=9)
    for name in ("recall", "accuracy"):
        table[name], table[f"{name}_low"], table[f"{name}_high"] = [0.5 * k, 0.8], 0.1, 0.9
    return classification.relik_accuracy_figure(table)


def named_triples(k):
    table = frame(head_degree=[1, 2, 30, 40], relik=k * np.array([0.1, 0.2, 0.8, 0.9]))
    return table.assign(head="h", relation="r", tail="t")


def classes(k):
    table = frame(mean=[0.3 * k], lower_quartile=0.1 * k, median=0.2 * k, upper_quartile=0.4)
    return table.assign(**{"class": "n-n", "triples": 40, "least": 0.01, "greatest": 1.0})


def factors(k):
    names = ["head_degree", "tail_degree", "frequency"]
    return rows(k, factor=names, measure="spearman", p_holm=0.01, triples=9)


def partials(k):
    names = ["none", "degree", "frequency"]
    return rows(k, coefficient="spearman", controls=names, p_holm=0.01, rows=9)


def study(k):
    table = frame(relik=[0.1, 0.2, 0.3, 0.4], tail_mrr=k * np.array([0.2, 0.4, 0.6, 0.8]))
    band = frame(relik=[0.1], mean=[0.2], low=[0.1], high=[0.3])
    return correlation.study_scatter(table.assign(evaluated=4), "tail_mrr", band, list("abcd"))


def coefficients(k):
    table = rows(k, task="tail_mrr", coefficient="pearson", size=[20, 40, 60], p_permutation=0.01)
    return table.assign(subgraphs=30)


def trials(k):
    table = frame(trial=[0, 1], value=[0.2 * k, 0.5], best_so_far=[0.2 * k, 0.5], state="finished")
    return table.assign(epochs=5, reason="", lr=[0.1, 0.01])


def plane(k):
    marked = frame(id=[0, 1], group=["head", "tail"], x=[1.0 * k, 2.0], y=[3.0, 4.0])
    return inspection.plane_figure(np.zeros((2, 2)), marked, ["a", "b"], (0.5, 0.25))


def instances(k):
    values = k * np.array([0.9, 0.8, 0.1, 0.2])
    table = frame(group="2p", label=[True, True, False, False], relik_max=values, instance=range(4))
    return instance_distribution.values_figure(table.assign(question="q", answer="b", groundings=1))


def path(k):
    table = frame(head=[0], relation=[0], tail=[1], is_answer_triple=True, predicted_side="tail")
    table = table.assign(relik=0.1 * k, split="train")
    return instance_path.path_figure(table, ["a", "b"], ["lives in"], True, SCALE)


def rates(k):
    curve = threshold_curve(np.array([True, False, True]), np.array([0.9, 0.5, 0.1]))
    return instance_thresholds.rates_figure(curve, 0.6 * k, rates_at(curve, 0.6 * k))


def scatter(k):
    table = frame(relik=[0.1, 0.2], reciprocal_rank=[0.3 * k, 0.6], split="test")
    return local_reliability.relik_scatter(table.assign(head="a", relation="r", tail=["b", "c"]))


def means(k):
    names = ("relik", "tail_mrr", "head_mrr", "both_mrr", "relation_mrr")
    return local_reliability.local_bars({name: Mean(0.5 * k, 9) for name in names})


def metric_table(k):
    types = ("optimistic", "realistic", "pessimistic")
    heights = [k * each for each in (0.7, 0.6, 0.5)]
    return MetricsTable(pd.DataFrame([heights], [MRR.key], [("tail", t) for t in types]))


def ranks(k):
    return frame(side=["head", "tail"] * 2, realistic=[1.0, 2.0, 9.0, 16.0 * k], candidates=99)


def parts(k):
    table = frame(part=[0, 0], name="p", run=["one", "two"], relik=[0.1, 0.2], mrr=[0.9 * k, 0.5])
    flags = {"picked": [True, False], "best": [k == 1, k != 1], "small": False}
    return table.assign(evaluated=40, triples=100, **flags)


def regrets(k):
    table = frame(strategy=["by ReliK", "one"], overall_best=[False, True], regret=[0.2 * k, 0.1])
    return table.assign(regret_low=0.05, regret_high=0.3, correct=1, parts=3, mrr=0.5)


def differences(k):
    table = frame(a="x", b="y", part=[1, 2], name=["p", "q"], evaluated=9)
    return table.assign(relik_difference=[0.1, 0.2], mrr_difference=[0.1 * k, 0.3])


def prediction(k):
    table = frame(relik=[0.1, 0.2], observed=[0.3 * k, 0.6], predicted=0.4, low=0.2, high=0.5)
    return performance_prediction.prediction_scatter(table, table, "tail_mrr", ["a", "b"])


def coverage(k):
    table = frame(scheme=["overlapping"], level=0.8, covered=0.9 * k, covered_low=0.1)
    return table.assign(covered_high=1.0, subgraphs=9, width=0.2)


def regions(k):
    table = rows(k, id=[0, 10, 20], label=list("abc"), small=False)
    table = table.rename(columns={"value": "relik"}).assign(entities=9, triples=[40, 30, 20])
    return table.assign(z=[3.0 * k, -2.0, 1.0], p=0.01, kind=["high", "low", "high"])


def links():
    return frame(a=[0], b=[10], triples=[5], relik=[0.1])


def pairs(k):
    columns = {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "p_holm": 0.01}
    return rows(k, **columns).rename(columns={"value": "difference"})


def communities(k):
    table = rows(k, name=list("abc"), triples=40, small=False)
    return table.rename(columns={"value": "difference"})


def grid(k):
    table = frame(low_a=[1.0, 1.0], high_a=[2.0, 2.0], low_b=[1.0, 3.0], high_b=[2.0, 4.0])
    return table.assign(count=[100, 50 * k])


def wins(k):
    table = frame(relation=[0], triples=[10], wins=[6 * k], ties=[1], losses=[9 - 6 * k])
    return table.assign(p_holm=0.5).astype(int)


def relations(k):
    table = frame(group=["r", "s"], gap=[0.2 * k, 0.1], pessimistic=0.1, optimistic=0.3)
    return table.assign(tied_share=0.2, count=40, largest_tie=7)


def tied(k):
    table = frame(head=["h", "i"], relation="r", tail="t", side="head", candidates=100)
    return table.assign(equal_scores=[int(80 * k), 4])


def separated(k):
    table = frame(group=["2p"], n_true=[9], n_false=9, roc_auc=[0.8 * k], share_true=0.5)
    table = table.assign(auc_low=0.3, auc_high=0.9, average_precision=0.7, cohens_d=1.0)
    values = {"mean_true": 0.6 * k, "low_true": 0.2, "high_true": 0.7, "cliffs_delta": 0.5}
    return table.assign(**values, mean_false=0.2, low_false=0.1, high_false=0.3)


def a_subgraph(k):
    table = frame(head=[0, 1], relation=0, tail=[1, 2], relik=[0.01 * k, 0.02])
    return subgraph.subgraph_figure(np.arange(3), list("abc"), 0, table, SCALE)


def candidates(k):
    columns = [metric_records()[key].key for key in metric_records()]
    table = frame(candidates=[10.0, 100.0])
    return candidate_subsampling.candidates_lines(
        table.assign(**{column: [0.9 * k, 0.4] for column in columns})
    )


def by_protocol(k):
    table = frame(protocol=["few", "many"] * 2, run=["a", "a", "b", "b"], sd=[0, 0.1] * 2)
    return candidate_subsampling.protocol_dots(table.assign(value=0.4 * k, exact=0.3), MRR)


#: chart -> its figure of data, which is other data for another k
EXAMPLES = {
    "breakdowns.group_bars": lambda k: breakdowns.group_bars(a_breakdown(k), MRR, 0.5),
    "breakdowns.side_heatmap": lambda k: breakdowns.side_heatmap(a_breakdown(k), MRR, ["a", "b"]),
    "candidate_subsampling.candidates_lines": candidates,
    "candidate_subsampling.protocol_dots": by_protocol,
    "classification.roc_figure": lambda k: classification.roc_figure(
        a_curve(k, "false_positive_rate", "true_positive_rate"), CONFUSION
    ),
    "classification.pr_figure": lambda k: classification.pr_figure(
        a_curve(k, "recall", "precision"), CONFUSION
    ),
    "classification.labelled_histogram": lambda k: classification.labelled_histogram(
        bins(k, true=1, false=1), 1.5
    ),
    "classification.calibration_figure": lambda k: classification.calibration_figure(calibrated(k)),
    "classification.calibrations_figure": lambda k: classification.calibrations_figure(
        {"a": calibrated(k), "b": calibrated(1)}
    ),
    "classification.confidence_figure": lambda k: classification.confidence_figure(
        {"fitted": calibrated(k), "Platt": calibrated(1)}
    ),
    "classification.relik_accuracy_figure": by_relik,
    "comparison.ambiguity_bars": lambda k: comparison.ambiguity_bars(in_conflict(k), 0.3),
    "comparison.metric_dots": lambda k: comparison.metric_dots(of_runs(k), MRR),
    "comparison.position_heatmap": lambda k: comparison.position_heatmap(
        of_groups(k), MRR, ["a", "b"]
    ),
    "comparison.seed_dots": seeds,
    "confounder_points.factor_points": lambda k: confounder_points.factor_points(
        named_triples(k), "head_degree"
    ),
    "confounder_points.class_boxes": lambda k: confounder_points.class_boxes(classes(k)),
    "confounders.factor_forest": lambda k: confounders.factor_forest(factors(k)),
    "confounders.partial_forest": lambda k: confounders.partial_forest(partials(k)),
    "correlation.study_scatter": study,
    "correlation.task_intervals": lambda k: correlation.task_intervals(coefficients(k), "pearson"),
    "correlation.size_sweep": lambda k: correlation.size_sweep(
        coefficients(k), "pearson", ["tail_mrr"]
    ),
    "hyperparameter_search.best_so_far": lambda k: hyperparameter_search.best_so_far(trials(k)),
    "hyperparameter_search.parallel_coordinates": lambda k: (
        hyperparameter_search.parallel_coordinates(
            trials(k), {"lr": hyperparameter_search.CategoricalDistribution([0.1, 0.01])}
        )
    ),
    "hyperparameter_search.importance_bars": lambda k: hyperparameter_search.importance_bars(
        pd.Series({"lr": 0.6 * k, "dim": 1 - 0.6 * k})
    ),
    "inspection.candidate_histogram": lambda k: inspection.candidate_histogram(
        bins(k, candidates=1, known=1), "tail", 1.5
    ),
    "group_rows.coverage_figure": lambda k: group_rows.coverage_figure(covered(k), 0.1),
    "inspection.plane_figure": plane,
    "instance_distribution.values_figure": instances,
    "instance_path.path_figure": path,
    "instance_thresholds.rates_figure": rates,
    "local_reliability.relik_scatter": scatter,
    "local_reliability.local_bars": means,
    "metrics.metric_bars": lambda k: metrics.metric_bars(metric_table(k), MRR),
    "metrics.rank_ecdf": lambda k: metrics.rank_ecdf(ranks(k), "realistic"),
    "metrics.loss_curve": lambda k: metrics.loss_curve([3.0, 2.0, 1.0 * k]),
    "model_selection.choice_matrix": lambda k: model_selection.choice_matrix(
        parts(k), ["one", "two"]
    ),
    "model_selection.regret_bars": lambda k: model_selection.regret_bars(regrets(k)),
    "model_selection.difference_points": lambda k: model_selection.difference_points(
        differences(k), "x", "y"
    ),
    "performance_prediction.prediction_scatter": prediction,
    "performance_prediction.coverage_figure": lambda k: performance_prediction.coverage_figure(
        coverage(k)
    ),
    "reliability_map.reliability_dots": lambda k: reliability_map.reliability_dots(
        regions(k), SCALE
    ),
    "reliability_map.community_map": lambda k: reliability_map.community_map(
        regions(k), links(), SCALE
    ),
    "reliability_map.baseline_figure": lambda k: reliability_map.baseline_figure(
        regions(k), np.arange(9.0)
    ),
    "run_pairs.pair_forest": lambda k: run_pairs.pair_forest(pairs(k)),
    "run_pairs.community_forest": lambda k: run_pairs.community_forest(communities(k), "a", "b"),
    "run_pairs.rank_density": lambda k: run_pairs.rank_density(grid(k), "a", "b"),
    "run_pairs.win_bars": lambda k: run_pairs.win_bars(wins(k), ["r"], "a", "b"),
    "score_health.score_histogram": lambda k: score_health.score_histogram(
        bins(k, true=1, candidates=1)
    ),
    "score_health.gap_bars": lambda k: score_health.gap_bars(relations(k), "head"),
    "score_health.tie_bars": lambda k: score_health.tie_bars(tied(k)),
    "separation.means_figure": lambda k: separation.means_figure(separated(k)),
    "separation.auc_figure": lambda k: separation.auc_figure({"relik": separated(k)}),
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
