"""Charts of a run by name, for files and reports: what pages show, from the same tables."""

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go

from kgdash.breakdowns.grouping import GROUPINGS
from kgdash.charts.breakdowns import group_bars, side_heatmap
from kgdash.charts.classification import (
    calibration_figure,
    labelled_histogram,
    relik_accuracy_figure,
    roc_figure,
)
from kgdash.charts.group_rows import coverage_figure
from kgdash.charts.instance_distribution import values_figure
from kgdash.charts.instance_thresholds import rates_figure
from kgdash.charts.local_reliability import local_bars, relik_scatter
from kgdash.charts.metrics import loss_curve, metric_bars, rank_ecdf
from kgdash.charts.reliability_map import community_map, reliability_dots
from kgdash.charts.relik_scale import ReliKScale, relik_scale
from kgdash.charts.separation import auc_figure, means_figure
from kgdash.charts.subgraph import subgraph_figure
from kgdash.errors import KgdashError, unknown_name
from kgdash.graph.communities import find_communities
from kgdash.ranking.metric_lookup import DEFAULT_KS
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import Evaluation
from kgdash.studies.classification.scores import confusion
from kgdash.studies.instances.thresholds import best_of, measured, rates_at, threshold_curve
from kgdash.studies.probability.answer_sets import IN_ORDER
from kgdash.studies.probability.query_groups import GROUPINGS as QUERY_GROUPINGS
from kgdash.studies.queries.query_types import in_words
from kgdash.studies.reliability.reliability_map import between
from kgdash.studies.reliability.run_relik import run_relik
from kgdash.studies.rules.parsing import readings

Draw = Callable[[ChartSource], go.Figure]


def draw_chart(name: str, source: ChartSource) -> go.Figure:
    """Draw a chart.

    :param name: one of `NAMED_CHARTS`
    :raises KgdashError: if there is no such chart, or it needs a choice that was not made
    """
    check_chart(name)
    return NAMED_CHARTS[name](source)


def check_chart(name: str) -> None:
    """Refuse a chart that there is not.

    :raises KgdashError: naming all that there are
    """
    if name not in NAMED_CHARTS:
        error = unknown_name("chart", name, list(NAMED_CHARTS), "kgdash")
        raise KgdashError(f"{error}; there are {', '.join(NAMED_CHARTS)}")


def in_order(evaluated: Evaluation, by: str) -> pd.DataFrame:
    """Return the groups of the chosen side as the page shows them at first.

    Relations with the most triples first, others in their order.
    """
    rows = evaluated.breakdown(by)
    rows = rows[rows["side"] == evaluated.setting.side]
    if by == "relation":
        rows = rows.sort_values("triples", ascending=False, kind="stable")
    return rows.reset_index(drop=True)


def _bars(by: str) -> Draw:
    def draw(source: ChartSource) -> go.Figure:
        evaluated = source.evaluation
        return group_bars(
            in_order(evaluated, by),
            evaluated.info,
            evaluated.values.value(
                evaluated.metric, evaluated.setting.side, evaluated.setting.rank_type
            ),
        )

    return draw


def _sides(by: str) -> Draw:
    def draw(source: ChartSource) -> go.Figure:
        evaluated = source.evaluation
        return side_heatmap(
            evaluated.breakdown(by), evaluated.info, in_order(evaluated, by)["group"].tolist()
        )

    return draw


def _subgraph(source: ChartSource) -> go.Figure:
    found, labels = source.local(), source.run.graph.entity_labels
    part, scale = found.subgraph, relik_scale(*run_relik(source.run, source.progress))
    return subgraph_figure(part.entities, labels, part.seed_entity, found.triples, scale)


def _communities(source: ChartSource) -> go.Figure:
    found = source.overview()
    lines = between(found.map, find_communities(source.run.graph))
    return community_map(found.communities, lines, _map_scale(source))


def _map_scale(source: ChartSource) -> ReliKScale:
    relik = source.overview().map.relik["relik"]
    return relik_scale(relik, f"all {len(relik):,} known triples")


def _relik(source: ChartSource) -> go.Figure:
    return relik_scatter(source.run.graph.with_names(source.local().triples))


def _scores(source: ChartSource) -> go.Figure:
    found = source.classified()
    return labelled_histogram(found.tables()["histogram"], found.fitted.overall)


def _roc(source: ChartSource) -> go.Figure:
    found = source.classified()
    return roc_figure(found.tables()["roc"], confusion(found.test))


def _instances(kind: str, what: str) -> Draw:
    def draw(source: ChartSource) -> go.Figure:
        table = source.instances(kind).table
        names = readings(table["group"].unique(), source.run.graph)
        names |= in_words(names)
        if what == "thresholds":
            labels, values, _ = measured(table, "relik", "max")
            curve = threshold_curve(labels, values)
            best = best_of(curve, "accuracy")
            return rates_figure(curve, best, rates_at(curve, best))
        tables = source.separation(kind).by_measure
        if what == "values":
            return values_figure(table, groups=tables["relik"]["group"].tolist()[:-1], names=names)
        if what == "means":
            return means_figure(tables["relik"], names=names)
        return auc_figure(tables, names)

    return draw


def _coverage(by: str) -> Draw:
    def draw(source: ChartSource) -> go.Figure:
        found = source.answer_sets()
        return coverage_figure(found.by_groups(by), found.setting.epsilon, by in IN_ORDER)

    return draw


_GROUPS = {by.replace("_", "-"): by for by in GROUPINGS}

#: name -> how it is drawn
NAMED_CHARTS: dict[str, Draw] = {
    "metrics": lambda source: metric_bars(source.evaluation.values, source.evaluation.info),
    "ranks": lambda source: rank_ecdf(
        source.evaluation.ranks, source.evaluation.setting.rank_type, DEFAULT_KS
    ),
    "losses": lambda source: loss_curve(source.run.training.get("losses", [])),
    **{f"breakdown-by-{name}": _bars(by) for name, by in _GROUPS.items()},
    **{f"sides-by-{name}": _sides(by) for name, by in _GROUPS.items()},
    "communities": _communities,
    "relik-by-relation": lambda source: reliability_dots(source.relations(), _map_scale(source)),
    "subgraph": _subgraph,
    "subgraph-figures": lambda source: local_bars(source.local().means),
    "subgraph-relik": _relik,
    "classification-scores": _scores,
    "classification-roc": _roc,
    "classification-calibration": lambda source: calibration_figure(
        source.classified().tables()["calibration"]
    ),
    "classification-relik": lambda source: relik_accuracy_figure(source.accuracy_by_relik()),
    **{f"coverage-by-{by}": _coverage(by) for by in QUERY_GROUPINGS},
    **{
        f"{kind}-{what}": _instances(kind, what)
        for kind in ("queries", "rules")
        for what in ("values", "means", "auc", "thresholds")
    },
}
