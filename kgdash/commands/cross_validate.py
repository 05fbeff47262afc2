"""The command ``cross-validate``: the study over folds, with models that it trains itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgdash.commands.options.common import LevelOption
from kgdash.commands.options.groups import Output, SubgraphOptions, TaskOptions
from kgdash.commands.options.output import command_text, records, write_rounded
from kgdash.errors import KgdashError
from kgdash.files.atomic import write_atomically
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from kgdash.graph.folds import Fold
    from kgdash.runs import Run


def cross_validate(
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="By name or folder, as of train.")
    ],
    options: SubgraphOptions,
    tasks: TaskOptions,
    folds: Annotated[
        int, typer.Option(help="How many the known triples are cut into; 0: the dataset's splits.")
    ] = 5,
    models: Annotated[
        str | None, typer.Option(help="PyKEEN's names, by commas; default: the paper's six.")
    ] = None,
    recipe: Annotated[
        str, typer.Option(help="What is not said of training, as of train: strong, … or pykeen.")
    ] = "pykeen",
    dimension: Annotated[int | None, typer.Option(help="Of the embeddings.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Of each training.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Default: the recipe's.")] = None,
    folds_only: Annotated[str | None, typer.Option(help="Only these folds, such as 0,1.")] = None,
    workdir: Annotated[Path | None, typer.Option(help="Where trained runs are kept.")] = None,
    results: Annotated[
        Path | None, typer.Option(help="Folder for a Markdown file and its tables.")
    ] = None,
    level: LevelOption = 0.95,
    each: Annotated[
        bool, typer.Option("--each", help="Print a row per model, fold and subgraph.")
    ] = False,
    *,
    context: typer.Context,
    output: Output,
) -> None:
    """Train models on folds, correlate ReliK with performance there, and report their mean.

    What was trained is kept: the same command goes on where it was.
    """
    from kgdash.graph.datasets import load_dataset
    from kgdash.hpo.recipes import recipe_name
    from kgdash.studies.correlation.cross_validation import MODELS, CrossValidation
    from kgdash.studies.correlation.cross_validation import cross_validate as compute
    from kgdash.studies.correlation.fold_report import markdown_report
    from kgdash.studies.correlation.fold_runs import default_workdir
    from kgdash.studies.correlation.fold_tables import both_ways

    bootstrap = Bootstrap(level, seed=options.seed)
    evaluation = tasks.evaluation(options)
    plan = CrossValidation(
        folds=folds,
        models=tuple(models.split(",")) if models else MODELS,
        dimension=dimension,
        epochs=epochs,
        batch_size=batch_size,
        recipe=recipe_name(recipe),
        seed=options.seed,
        folds_only=_whole_numbers(folds_only) if folds_only else (),
        subgraphs=options.subgraphs,
        sizes=tuple(tasks.size or ()),
        method=options.method,
        walk={"restart": options.restart, "hops": options.hops, "direction": options.direction},
        evaluated=evaluation.evaluated,
        relik_method=evaluation.relik_method,
        filter=evaluation.filter,
        ks=evaluation.ks,
        corrupt=evaluation.corrupt,
    )
    graph = load_dataset(dataset)
    folder = workdir or default_workdir()
    progress = terminal(f"folds of {graph.name}")
    try:
        table, runs = compute(graph, plan, folder, progress, _print_fold)
    except KeyboardInterrupt:
        print(f"\n{folder} keeps what was trained: the same command goes on", file=sys.stderr)
        raise
    coefficients = both_ways(table, bootstrap)
    if results is not None:
        text = markdown_report(graph, plan, command_text(context), coefficients, runs)
        report = results / f"{graph.name}.md"
        write_atomically(report, lambda part: part.write_text(text, encoding="utf-8"))
        for name, rows in ((graph.name, coefficients), (f"{graph.name}-runs", runs)):
            write_rounded(rows, results / f"{name}.csv")
        print(f"wrote {report} and its tables", file=sys.stderr)
    shown = table if each else coefficients
    about = {"graph": graph.name, "plan": vars(plan), "workdir": str(folder)}
    output.show(shown, lambda: about | records({"runs": runs, "rows": shown}))


def _whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise KgdashError(f"--folds-only: expected numbers such as 0,1; found {text!r}") from None


def _print_fold(fold: Fold, run: Run, before: bool) -> None:
    seconds = run.training["seconds"]
    trained = "was trained before" if before else f"trained in {seconds:.0f} s"
    mrr = run.training["evaluation"]["inverse_harmonic_mean_rank"]
    text = f"fold {fold.number}, {run.spec.name}: {trained}, test MRR {mrr:.3f}"
    print(f"\r{text:<70}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)
