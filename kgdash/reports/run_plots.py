"""A run's charts from Python and notebooks: what pages show, by the names that ``chart`` takes."""

from collections.abc import Callable
from functools import partial
from typing import TypedDict, Unpack

import plotly.graph_objects as go

from kgdash.charts.export import on_background
from kgdash.errors import check_name, unknown_name
from kgdash.files.html import facts_html
from kgdash.progress import Progress, silent
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.chart_source import ChartSource
from kgdash.reports.evaluation import evaluation
from kgdash.reports.named_charts import NAMED_CHARTS, draw_chart
from kgdash.runs import Run


class ChartChoices(TypedDict, total=False):
    """What `RunPlots` takes besides a chart's name: the options of the command ``chart``."""

    split: str
    filter: str | None
    side: str
    rank_type: str
    metric: str
    entity: str
    size: int
    seed: int
    dark: bool
    progress: Progress


class RunPlots:
    """The charts of a run, as Plotly figures on white, or ``dark``, whatever a notebook's colours.

    Each is a method, named as the command ``chart`` names it but for the dashes.

    >>> run.plot.ranks(split="valid")
    >>> run.plot.breakdown_by_relation(metric="hits@10", side="tail")
    >>> run.plot.subgraph(entity="virus", size=30)
    """

    def __init__(self, run: Run) -> None:
        """Take the run that is drawn."""
        self._run = run

    def __call__(self, name: str, **choices: Unpack[ChartChoices]) -> go.Figure:
        """Draw a chart by name.

        :param name: of `kgdash.reports.named_charts.NAMED_CHARTS`
        :raises KgdashError: if there is no such chart, or a choice is unknown or missing
        """
        for choice in choices:
            check_name("choice", choice, ChartChoices.__annotations__, "charts")
        setting = RankSetting.parse(
            choices.get("split", "test"),
            choices.get("filter"),
            choices.get("side", "both"),
            choices.get("rank_type", "realistic"),
        )
        progress = choices.get("progress", silent)
        asked = evaluation(self._run, setting, choices.get("metric", "mrr"), progress, progress)
        seed, size = choices.get("seed", 0), choices.get("size", 60)
        source = ChartSource(asked, choices.get("entity"), size, seed, progress)
        return on_background(draw_chart(name, source), choices.get("dark", False))

    def __getattr__(self, name: str) -> Callable[..., go.Figure]:
        """Return what draws the chart of this name.

        :raises AttributeError: if there is none; what is meant perhaps is named
        """
        if name.replace("_", "-") in NAMED_CHARTS:
            return partial(self, name.replace("_", "-"))
        raise AttributeError(str(unknown_name("chart", name, dir(self), "kgdash")))

    def __dir__(self) -> list[str]:
        """List the charts, for completion."""
        return [name.replace("-", "_") for name in NAMED_CHARTS]

    def __repr__(self) -> str:
        """Name the run and the charts."""
        return f"charts of {self._run.name}: {', '.join(dir(self))}"

    def _repr_html_(self) -> str:
        return facts_html(f"Charts of {self._run.name}", {"plot.": ", ".join(dir(self))})
