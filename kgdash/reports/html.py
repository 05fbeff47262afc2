"""Reports as one HTML file that needs no network; the same run gives the same bytes.

Charts are drawn by plotly.js, of which plotly-cartesian.min.js.gz is the part that draws on plain
axes: `npm pack plotly.js-cartesian-dist-min`, of the version that the package plotly holds whole.
"""

import base64
import gzip
import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kgdash.files.atomic import write_atomically
from kgdash.files.extensions import check_extension
from kgdash.files.visible import visible
from kgdash.progress import Progress, silent
from kgdash.ranking.glossary import glossary_table, metric_text
from kgdash.ranking.metric_lookup import metric_records
from kgdash.ranking.rank_setting import RankSetting
from kgdash.reports.comparison import ComparisonContent, comparison_content
from kgdash.reports.content import ReportContent, report_caption, report_content
from kgdash.reports.groups import MOST_GROUPS
from kgdash.runs import Run
from kgdash.statistics.estimate import number
from kgdash.version import __version__

#: of a report's file
EXTENSIONS = (".html", ".htm")

_FOLDER = Path(__file__).parent

#: of the report of a run
_HEADINGS = (
    "Reliability",
    "Run",
    "Metrics",
    "Ranks",
    "Groups",
    "Glossary",
    "How it was computed",
)

#: metrics on the cards at the top
_CARDS = (
    "inverse_harmonic_mean_rank",
    "hits_at_10",
    "arithmetic_mean_rank",
    "adjusted_arithmetic_mean_rank_index",
)


class Cell(NamedTuple):
    """What a table shows, and what it is sorted by."""

    text: str
    value: str
    numeric: bool


def report_html(content: ReportContent, made: str = "") -> str:
    """Write the report.

    :param content: of `kgdash.reports.content.report_content`
    :param made: when it was made, to be shown; nothing by default, so that reports can be compared
    :return: the page: about 1 MB, most of it plotly.js, packed; it asks for nothing from outside,
        and a policy in it forbids any request and any script but its own two
    """
    run = content.evaluation.run
    evaluated, heading = report_caption(content.evaluation), f"{run.spec.name} on {run.graph.name}"
    return _page(
        "report.html.j2",
        content=content,
        title=f"{heading}: {run.name}",
        heading=heading,
        about=f"Run {run.name}. {evaluated}.",
        headings=_HEADINGS,
        setting=content.evaluation.setting,
        info=content.evaluation.info,
        evaluated=evaluated,
        cards=_cards(content),
        most_groups=MOST_GROUPS,
        made=made,
    )


def comparison_html(content: ComparisonContent, made: str = "") -> str:
    """Write the report of several runs, as `report_html` does that of one.

    :param content: of `kgdash.reports.comparison.comparison_content`
    """
    names = ", ".join(content.runs)
    return _page(
        "comparison.html.j2",
        content=content,
        title=f"Comparison of {names}",
        heading=f"Comparison of {len(content.runs)} runs",
        about=f"{names} on {content.evaluated}.",
        headings=(*content.parts, "Runs", "Glossary", "How it was computed"),
        made=made,
    )


def report_page(run: Run, setting: RankSetting, progress: Progress = silent) -> bytes:
    """Compute what a report says of a run, and write it: `report_html`, as UTF-8."""
    return report_html(report_content(run, setting, progress=progress)).encode()


def comparison_page(
    runs: list[Run], setting: RankSetting, metric: str, progress: Progress = silent
) -> bytes:
    """Compute what a report says of several runs, and write it: `comparison_html`, as UTF-8."""
    return comparison_html(comparison_content(runs, setting, metric, progress=progress)).encode()


def _page(template: str, **values: Any) -> str:
    """Fill a template that extends page.html.j2."""
    packed = (_FOLDER / "plotly-cartesian.min.js.gz").read_bytes()
    script = (_FOLDER / "report.js").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {"rows": table_rows, "figure": _figure_json}
    return environment.get_template(template).render(
        values,
        version=__version__,
        terms=glossary_table(),
        style=(_FOLDER / "report.css").read_text(encoding="utf-8"),
        library=(len(packed), _in_text(packed)),
        script=script,
        scripts=" ".join(
            f"'{_digest(text)}'" for text in (gzip.decompress(packed), script.encode())
        ),
    )


def write_report(content: ReportContent | ComparisonContent, out: Path, made: str = "") -> None:
    """Write the report to a file; it appears whole or not at all.

    :raises KgdashError: if it is no .html, or can not be written
    """
    check_extension(out, EXTENSIONS)
    if isinstance(content, ReportContent):
        text = report_html(content, made)
    else:
        text = comparison_html(content, made)
    write_atomically(out, lambda part: part.write_text(text, encoding="utf-8"))


def table_rows(table: pd.DataFrame) -> list[list[Cell]]:
    """Return the cells of a table: numbers to three digits, as they are sorted to all."""
    columns = [[_cell(value) for value in table[name].tolist()] for name in table]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> Cell:
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(f"{value:,}", str(value), True)
    if isinstance(value, float):
        return Cell(number(value), "" if math.isnan(value) else repr(value), True)
    return Cell(str(value), str(value), False)


def _cards(content: ReportContent) -> Sequence[tuple[str, str, str, str]]:
    """Return label, value, raw value and explanation of each card."""
    guide, rank_type = metric_records(), content.evaluation.setting.rank_type
    values = content.evaluation.values.values("both", rank_type)
    raw = content.raw.values("both", rank_type) if content.raw else None
    return [
        (
            f"{guide[key].label} {guide[key].arrow}",
            number(values[key]),
            f"raw {number(raw[key])}" if raw else "",
            metric_text(guide[key]),
        )
        for key in _CARDS
    ]


def _figure_json(figure: go.Figure) -> str:
    """Return a figure as JSON that may stand in a script element: "<" and ">" are written \\u003c.

    The colours of texts are left to the page, which is light or dark.
    """
    figure = go.Figure(figure).update_layout(template="none")
    figure.update_layout(paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)")
    return str(pio.to_json(figure, engine="json"))


def _in_text(packed: bytes) -> str:
    """Write bytes as report.js reads them: in base 85, "," for "<"."""
    return base64.b85encode(packed, pad=True).decode().replace("<", ",")


def _shown(value: Any) -> Any:
    """Write what texts hold for browsers to obey; what is markup already stays."""
    return visible(value) if type(value) is str else value


def _digest(script: bytes) -> str:
    """Return what a Content-Security-Policy calls an inline script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}"
