"""The command ``audit``: facts that are most likely wrong, and how well such lists find errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from kgdash.commands.options.common import SeedOption
from kgdash.commands.options.groups import Output
from kgdash.commands.options.output import load_run, records
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.graph.folds import Fold
    from kgdash.runs import Run
    from kgdash.runs.training import TrainingConfig


def audit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|DATASET",
            help="A run, whose graph and training are taken; with --model: a dataset.",
        ),
    ],
    dataset: Annotated[
        str | None, typer.Option(help="For a PyKEEN directory: its dataset, by name or folder.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Of a dataset: PyKEEN model name.")] = None,
    dim: Annotated[int, typer.Option(help="With --model: embedding dimension.")] = 50,
    epochs: Annotated[int | None, typer.Option(help="Of each training.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="With --model; default: PyKEEN's choice.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="With --model; default: the optimizer's.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="With --model: PyKEEN loss name.")] = None,
    loop: Annotated[str, typer.Option(help="With --model: sLCWA or LCWA.")] = "sLCWA",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="With --model: as of train, PART.NAME=VALUE."),
    ] = None,
    folds: Annotated[int, typer.Option(help="How many the training triples are cut into.")] = 5,
    seed: SeedOption = 0,
    workdir: Annotated[Path | None, typer.Option(help="Where trained runs are kept.")] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="Plant so many errors (share of train) and tell who finds them."),
    ] = None,
    *,
    output: Output,
) -> None:
    """List the facts that are most likely wrong, by models that did not see them.

    What was trained is kept: the same command goes on where it was.
    """
    from kgdash.studies.audit.cross_fitting import AuditPlan, cross_fit, named_audit
    from kgdash.studies.audit.of_run import plan_of_run
    from kgdash.studies.correlation.fold_runs import default_workdir

    given: dict[str, Any] = {"model.embedding_dim": dim, "training.batch_size": batch_size}
    given |= {"optimizer.lr": learning_rate, "training.num_epochs": epochs}
    if model is None:
        run = _audited(source, dataset)
        graph, plan = run.graph, plan_of_run(run, folds, seed, epochs)
    else:
        graph, config = _of_dataset(source, model, given, (loss, loop, set_ or []))
        plan = AuditPlan(config, folds, seed)
    folder, progress = workdir or default_workdir(), terminal(f"audit of {graph.name}")
    about: dict[str, Any] = {"graph": graph.name, "training": plan.config.record(), "folds": folds}
    about |= {"seed": seed, "workdir": str(folder)}
    try:
        if noise is not None:
            from kgdash.studies.audit.benchmark import detect_planted

            found, _ = detect_planted(graph, plan, noise, folder, progress, _print_fold)
            output.show(found, lambda: about | {"noise": noise} | records({"methods": found}))
            return
        table = named_audit(graph, cross_fit(graph, plan, folder, progress, _print_fold))
    except KeyboardInterrupt:
        print(f"\n{folder} keeps what was trained: the same command goes on", file=sys.stderr)
        raise
    output.show(table, lambda: about | records({"triples": table}))


def _audited(source: str, dataset: str | None) -> Run:
    try:
        return load_run(source, dataset)
    except KgdashError as error:
        raise KgdashError(f"{error}; to audit a dataset, add --model") from error


def _of_dataset(
    source: str, model: str, given: dict[str, Any], how: tuple[str | None, str, list[str]]
) -> tuple[KnowledgeGraph, TrainingConfig]:
    from kgdash.graph.datasets import load_dataset
    from kgdash.hpo.space import SearchSpace, fixed_configuration
    from kgdash.hpo.text import read_settings

    loss, loop, more = how
    texts = {name: str(value) for name, value in given.items() if value is not None}
    space = SearchSpace(
        models=(model,),
        losses=(loss,) if loss else (),
        values=read_settings(texts, more),
        training_loop=loop,
    )
    config = fixed_configuration(space)
    return load_dataset(source), config


def _print_fold(fold: Fold, held: np.ndarray, run: Run, before: bool) -> None:
    trained = "was trained before" if before else f"trained in {run.training['seconds']:.0f} s"
    kept = f", {fold.kept:,} needed in train" if fold.kept else ""
    text = f"fold {fold.number}: {trained}, judges {len(held):,} triples{kept}"
    mrr = (run.training.get("evaluation") or {}).get("inverse_harmonic_mean_rank")
    text += f", test MRR {mrr:.3f}" if mrr is not None else ""
    print(f"\r{text:<70}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)
