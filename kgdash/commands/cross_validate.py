"""The command ``study --cv``: the study over folds, with models that it trains itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd

from kgdash.commands.shared import print_json, write_or_print, write_rounded
from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.progress import terminal


def cross_validate(
    source: str,
    plan: dict[str, Any],
    level: float,
    workdir: Path | None,
    results: Path | None,
    each: bool,
    as_json: bool,
    out: Path | None,
) -> None:
    """Train on folds, correlate, and print or write what was found.

    :param source: the dataset, as ``train`` takes it
    :param plan: arguments of `CrossValidation`, ``models`` and
        ``folds_only`` as texts such as "TransE,ConvE" and "0,1"; None: the default
    :param level: of the bootstrap intervals
    :param workdir: where trained runs are kept; default: `default_workdir`
    :param results: folder for a Markdown file and two tables, named after the graph
    :param each: print a row per model, fold and subgraph
    :param as_json: print JSON
    :param out: file for the printed table
    :raises KgdashError: if the plan can not be carried out
    """
    from kgdash.graph.datasets import load_dataset
    from kgdash.statistics.bootstrap import Bootstrap, check_level
    from kgdash.studies.correlation.cross_validation import CrossValidation
    from kgdash.studies.correlation.cross_validation import cross_validate as compute
    from kgdash.studies.correlation.fold_runs import default_workdir
    from kgdash.studies.correlation.fold_tables import both_ways

    check_level(level)
    given = {name: value for name, value in plan.items() if value is not None}
    if "models" in given:
        given["models"] = tuple(given["models"].split(","))
    if "folds_only" in given:
        given["folds_only"] = _whole_numbers(given["folds_only"])
    chosen = CrossValidation(**given)
    graph = load_dataset(source)
    folder = workdir or default_workdir()
    try:
        figures, runs = compute(graph, chosen, folder, terminal(f"folds of {graph.name}"), _tell)
    except KeyboardInterrupt:
        print(f"\n{folder} keeps what was trained: the same command goes on", file=sys.stderr)
        raise
    found = both_ways(figures, Bootstrap(level, seed=chosen.seed))
    if results is not None:
        _write_results(results, source, graph, chosen, found, runs)
    shown = figures if each else found
    if out is not None:
        write_or_print(shown, out)
    if as_json:
        about = {"graph": graph.name, "plan": vars(chosen), "workdir": str(folder)}
        rows = {"runs": runs.to_dict("records"), "rows": shown.to_dict("records")}
        print_json(about | rows)
    elif out is None:
        write_or_print(shown, None)


def refuse_without_cv(options: dict[str, Any]) -> None:
    """Refuse options that mean nothing to the study of a run.

    :param options: by the names that they have in ``study``; None: not given
    :raises KgdashError: if one is given
    """
    if given := _given(options):
        raise KgdashError(f"{given}: only with --cv")


def refuse_with_cv(options: dict[str, Any]) -> None:
    """Refuse options of the study of runs that mean nothing to folds; as `refuse_without_cv`."""
    if given := _given(options):
        raise KgdashError(f"{given}: not with --cv, where the dataset stands in place of RUN")


def _given(options: dict[str, Any]) -> str:
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    return ", ".join(given)


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise KgdashError(f"--folds-only: expected numbers such as 0,1; found {text!r}") from None


def _tell(fold: Any, run: Any, before: bool) -> None:
    seconds = run.training["seconds"]
    told = "was trained before" if before else f"trained in {seconds:.0f} s"
    mrr = run.training["evaluation"]["inverse_harmonic_mean_rank"]
    text = f"fold {fold.number}, {run.spec.name}: {told}, test MRR {mrr:.3f}"
    print(f"\r{text:<70}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def _write_results(
    folder: Path, source: str, graph: Any, plan: Any, found: pd.DataFrame, runs: pd.DataFrame
) -> None:
    from kgdash.studies.correlation.fold_report import command_line, markdown_report

    # The folder's name alone: where it lies is this machine's business.
    dataset = Path(source).name if Path(source).is_dir() else source
    text = markdown_report(graph, plan, command_line(dataset, plan), found, runs)
    report = folder / f"{graph.name}.md"
    write_atomically(report, lambda part: part.write_text(text, encoding="utf-8"))
    for name, table in ((graph.name, found), (f"{graph.name}-runs", runs)):
        write_rounded(table, folder / f"{name}.csv")
    print(f"wrote {report} and its tables", file=sys.stderr)
