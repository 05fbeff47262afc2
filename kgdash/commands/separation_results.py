"""Results of the commands ``queries`` and ``rules``: a Markdown file, its table, its charts."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgdash.commands.shared import write_rounded
from kgdash.files.atomic import write_atomically

if TYPE_CHECKING:
    from kgdash.studies.instances.separation import Comparison

ResultsOption = Annotated[
    Path | None,
    typer.Option(help="Folder for a Markdown file of what separates, its table and two charts."),
]


def write_results(
    run: Any, found: Comparison, aggregate: str, notes: tuple[str, ...], folder: Path
) -> None:
    """Write what a comparison found as ``COMMAND-RUN.md``, ``.csv`` and two ``.svg``.

    Over the answering triples alone: ``COMMAND-RUN-answering.md`` and so on.

    :raises KgdashError: if no browser is there to draw the charts, or a file can not be written
    """
    from kgdash.charts.export import FigureSize, check_figure_file, write_figure
    from kgdash.charts.separation import auc_figure, means_figure
    from kgdash.studies.instances.separation_report import separation_report, separation_rows
    from kgdash.studies.rules.rule import readings

    what, arguments = sys.argv[1], _without_results(sys.argv[1:])
    first, separated = next(iter(found.by_measure.items()))
    stem = f"{what}-{run.name}" + "-answering" * first.endswith("_answer")
    files = {name: folder / f"{stem}-{name}.svg" for name in ("means", "auc")}
    check_figure_file(files["means"])
    folder.mkdir(parents=True, exist_ok=True)
    names = readings(separated["group"].unique(), run.graph)
    figures = {
        "means": means_figure(separated, first, aggregate, names),
        "auc": auc_figure(found.by_measure, names),
    }
    for name, figure in figures.items():
        write_figure(figure, files[name], size=FigureSize(760))
    text = separation_report(
        f"{what.capitalize()}: {run.spec.name} on {run.graph.name}",
        run,
        found,
        shlex.join(["python", "-m", "kgdash", *arguments]),
        aggregate,
        notes,
        names,
        {name: path.name for name, path in files.items()},
    )
    write_atomically(folder / f"{stem}.md", lambda part: part.write_text(text, encoding="utf-8"))
    write_rounded(separation_rows(found), folder / f"{stem}.csv")
    print(f"wrote {folder / stem}.md, its table and charts", file=sys.stderr)


def _without_results(arguments: list[str]) -> list[str]:
    """Leave out where the results go: that is this machine's business."""
    kept = []
    words = iter(arguments)
    for word in words:
        if word == "--results":
            next(words, None)
        elif not word.startswith("--results="):
            kept.append(word)
    return kept
