"""What the commands ``queries`` and ``rules`` share: options, scoring, and what comes out of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgdash.commands.options.common import JsonOption, OutOption, known_extension
from kgdash.commands.options.output import command_text, print_json, write_or_print, write_rounded
from kgdash.commands.options.terminal import say, tell_notes
from kgdash.errors import check_name
from kgdash.files.atomic import write_atomically
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.runs import Run
    from kgdash.studies.instances.instances import Instances, ScoredInstances
    from kgdash.studies.instances.separation import Comparison


@dataclass(frozen=True)
class SeparationOptions:
    """How true and false instances are compared, and where what comes out is written."""

    aggregate: Annotated[str, typer.Option(help="Over an instance's groundings: max or mean.")] = (
        "max"
    )
    over: Annotated[
        str, typer.Option(help='An instance is the mean over "all triples" or "answering triples".')
    ] = "all triples"
    as_json: JsonOption = False
    out: OutOption = None
    suspicious: Annotated[
        Path | None,
        typer.Option(
            help="Write the known facts among the triples here, least ReliK first.",
            callback=known_extension,
        ),
    ] = None
    plausible: Annotated[
        Path | None,
        typer.Option(
            help="Write the triples that no split holds here, most reliable first.",
            callback=known_extension,
        ),
    ] = None
    results: Annotated[
        Path | None,
        typer.Option(help="Folder for a Markdown file of what separates, its table, two charts."),
    ] = None


def compare_labels(
    run: Run, instances: Instances, options: SeparationOptions, context: typer.Context
) -> None:
    """Score instances and print, or write, what tells true ones from false ones.

    :param context: of the command, which results are named after
    """
    from kgdash.studies.instances.instances import score_instances
    from kgdash.studies.instances.separation import COMPARED, compare_measures, measure_column
    from kgdash.studies.instances.separation_verdict import separation_verdict

    check_name("choice of triples", options.over, COMPARED, "kgdash")
    measures, aggregate = COMPARED[options.over], options.aggregate
    measure_column(measures[0], aggregate)
    tell_notes(instances.notes if options.results is None and not options.as_json else ())
    scored = score_instances(run, instances, terminal("scoring instances"))
    found = compare_measures(scored.table, measures, aggregate, order="separation")
    wrote = _write_tables(run, scored, options)
    if options.results is not None:
        _write_results(run, found, instances.notes, options, context)
    if options.as_json:
        about = {"aggregate": aggregate, "over": options.over, "notes": instances.notes}
        about["verdict"] = separation_verdict(found)
        print_json({"run": run.name, **about} | _values(found, scored, aggregate))
    elif options.results is None and not wrote:
        for sentence in separation_verdict(found):
            say(f"# {sentence}")
        for measure, separated in found.by_measure.items():
            print(f"# {measure}")
            write_or_print(separated, None)
        print("# differences of ROC-AUC")
        write_or_print(found.differences, None)


def _write_tables(run: Run, scored: ScoredInstances, options: SeparationOptions) -> bool:
    """Write the tables that were asked for; nothing is said beside JSON."""
    from kgdash.studies.instances.likely_errors import plausible_missing_triples, suspicious_facts
    from kgdash.studies.rules.confidence import rule_confidence

    def plausible() -> Any:
        confidence = rule_confidence(run.graph, scored.table["group"].unique())
        return plausible_missing_triples(run.graph, scored, confidence)

    tables = (
        (options.out, lambda: scored.table),
        (options.suspicious, lambda: suspicious_facts(run.graph, scored)),
        (options.plausible, plausible),
    )
    for path, table in tables:
        if path is not None:
            write_or_print(table(), path, silent=options.as_json)
    return any(path is not None for path, _ in tables)


def _values(found: Comparison, scored: ScoredInstances, aggregate: str) -> dict[str, Any]:
    from kgdash.studies.instances.thresholds import judged_thresholds

    return {
        "separation": {m: table.to_dict("records") for m, table in found.by_measure.items()},
        "differences": found.differences.to_dict("records"),
        "thresholds": {
            m: judged_thresholds(scored.table, m, aggregate).to_dict("records")
            for m in found.by_measure
        },
    }


def _write_results(
    run: Run,
    found: Comparison,
    notes: tuple[str, ...],
    options: SeparationOptions,
    context: typer.Context,
) -> None:
    """Write what a comparison found as ``COMMAND-RUN.md``, ``.csv`` and two ``.svg``.

    Over the answering triples alone: ``COMMAND-RUN-answering.md`` and so on.

    :raises KgdashError: if no browser is there to draw the charts, or a file can not be written
    """
    from kgdash.charts.export import FigureSize, check_figure_file, write_figure
    from kgdash.charts.separation import auc_figure, means_figure
    from kgdash.studies.instances.separation_report import SeparationReport, separation_rows
    from kgdash.studies.rules.parsing import readings

    folder, what = options.results or Path(), str(context.info_name)
    first, separated = next(iter(found.by_measure.items()))
    stem = f"{what}-{run.name}" + "-answering" * first.endswith("_answer")
    files = {name: folder / f"{stem}-{name}.svg" for name in ("means", "auc")}
    check_figure_file(files["means"])
    folder.mkdir(parents=True, exist_ok=True)
    names = readings(separated["group"].unique(), run.graph)
    charts = {
        "means": means_figure(separated, first, options.aggregate, names),
        "auc": auc_figure(found.by_measure, names),
    }
    for name, chart in charts.items():
        write_figure(chart, files[name], size=FigureSize(760))
    text = SeparationReport(run, found, options.aggregate, notes, names).text(
        f"{what.capitalize()}: {run.spec.name} on {run.graph.name}",
        command_text(context),
        {name: path.name for name, path in files.items()},
    )
    write_atomically(folder / f"{stem}.md", lambda part: part.write_text(text, encoding="utf-8"))
    write_rounded(separation_rows(found), folder / f"{stem}.csv")
    print(f"wrote {folder / stem}.md, its table and charts", file=sys.stderr)
