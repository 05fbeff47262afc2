"""The commands ``report`` and ``chart``: a run as one HTML file, and any of its charts."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.groupings import tell_of_minutes
from kgdash.commands.options.common import FilterOption, RankTypeOption, SeedOption, SplitOption
from kgdash.commands.options.groups import RunOptions
from kgdash.files.extensions import check_extension
from kgdash.progress import terminal

MetricOption = Annotated[str, typer.Option(help="mrr, amri, hits@10, …, or a key of `metrics`.")]


def report(
    run: RunOptions,
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="The file to write.")],
    split: SplitOption = "test",
    filter: FilterOption = None,
    rank_type: RankTypeOption = "realistic",
    metric: MetricOption = "inverse_harmonic_mean_rank",
    date: Annotated[bool, typer.Option("--date", help="Say when it was made.")] = False,
) -> None:
    """Write a report of a run as one HTML file that needs no network."""
    from kgdash.ranking.metric_lookup import find_metric
    from kgdash.ranking.rank_setting import RankSetting
    from kgdash.reports.content import report_content
    from kgdash.reports.html import EXTENSIONS, write_report

    check_extension(out, EXTENSIONS)
    loaded = run.load()
    setting = RankSetting.parse(split, filter, rank_type=rank_type)
    tell_of_minutes(find_metric(metric), loaded.graph.num_relations)
    content = report_content(loaded, setting, metric, terminal("report"))
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC") if date else ""
    write_report(content, out, made)
    print(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")


def chart(
    run: RunOptions,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="metrics, ranks, losses; breakdown-by-… or sides-by-… relation, cardinality, "
            "pattern, head-degree, tail-degree, answers or frequency; communities, "
            "relik-by-relation; subgraph, subgraph-figures, subgraph-relik; classification-… "
            "scores, roc, calibration or relik; queries-… or rules-… values, means, auc or "
            "thresholds.",
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write: .html, .svg, .png or .pdf.")
    ],
    split: SplitOption = "test",
    filter: FilterOption = None,
    rank_type: RankTypeOption = "realistic",
    metric: MetricOption = "inverse_harmonic_mean_rank",
    side: Annotated[str, typer.Option(help="Of breakdowns: head, tail or both.")] = "both",
    entity: Annotated[
        str | None, typer.Option(help="Of charts of a subgraph: its seed, by name or label.")
    ] = None,
    size: Annotated[int, typer.Option(help="Of the subgraph: entities to collect.")] = 60,
    seed: SeedOption = 0,
    dark: Annotated[bool, typer.Option("--dark", help="On a dark background.")] = False,
    width: Annotated[int, typer.Option(help="In pixels.")] = 900,
    height: Annotated[int | None, typer.Option(help="In pixels; default: the chart's own.")] = None,
    scale: Annotated[float, typer.Option(help="Of PNG: pixels of the file per pixel.")] = 2.0,
) -> None:
    """Write a chart of a run as HTML, SVG, PNG or PDF."""
    from kgdash.charts.export import FigureSize, check_figure_file, write_figure
    from kgdash.ranking.rank_setting import RankSetting
    from kgdash.reports.chart_source import ChartSource
    from kgdash.reports.evaluation import evaluation
    from kgdash.reports.named_charts import check_chart, draw_chart

    drawn_size = FigureSize(width, height, scale)
    check_figure_file(out, drawn_size)
    check_chart(name)
    loaded, progress = run.load(), terminal(name)
    setting = RankSetting.parse(split, filter, side, rank_type)
    asked = evaluation(loaded, setting, metric, progress, terminal("relations"))
    figure = draw_chart(name, ChartSource(asked, entity, size, seed, progress))
    write_figure(figure, out, dark=dark, size=drawn_size)
    print(f"wrote {out}")
