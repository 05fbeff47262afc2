"""The commands ``train``, with or without a search, and ``trials``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgdash.commands.options.common import OutRunArgument, SeedOption
from kgdash.commands.options.groups import Output
from kgdash.commands.options.output import write_new_run
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.graph import KnowledgeGraph
    from kgdash.hpo.selection import Budget
    from kgdash.hpo.space import SearchSpace
    from kgdash.hpo.study_file import StudyFile
    from kgdash.hpo.trial import SearchPlan
    from kgdash.runs import Run

_DIMENSION, _TRIALS = "50", 30

_VALUES = "With --search: also A,B,C or LOW:HIGH; default: PyKEEN's range."


def train(
    dataset: Annotated[str, typer.Option(help="PyKEEN dataset name, or folder.")],
    model: Annotated[str, typer.Option(help="PyKEEN model name; with --search: or several, A,B.")],
    out: OutRunArgument = None,
    dim: Annotated[
        str | None, typer.Option(help=f"Embedding dimension, default {_DIMENSION}. {_VALUES}")
    ] = None,
    epochs: Annotated[str | None, typer.Option(help=f"Default 100. {_VALUES}")] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="strong, good, quick or pykeen: what is not given otherwise; default, where "
            "nothing is: strong for the models that it knows."
        ),
    ] = None,
    seed: SeedOption = 0,
    batch_size: Annotated[
        str | None, typer.Option(help=f"Default: PyKEEN's choice. {_VALUES}")
    ] = None,
    learning_rate: Annotated[
        str | None, typer.Option(help=f"Default: the optimizer's. {_VALUES}")
    ] = None,
    negatives: Annotated[
        str | None, typer.Option(help=f"Negatives per positive. {_VALUES}")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="PyKEEN loss name; with --search: or A,B.")
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option(help="PyKEEN optimizer name, default Adam.")
    ] = None,
    loop: Annotated[
        str | None, typer.Option(help="sLCWA (default), LCWA, or softmax over all entities.")
    ] = None,
    inverse: Annotated[
        bool | None, typer.Option(help="Train with inverse relations (default: if needed).")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help=f"Any other argument, PART.NAME=VALUE, as loss.margin=2. {_VALUES}"
        ),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Choose what is left open by MRR on valid first.")
    ] = False,
    trials: Annotated[
        int | None, typer.Option(help=f"Search: configurations to try; default {_TRIALS}.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Search: start no trial after so many seconds of trials.")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(help="Search: its SQLite file, gone on with; default OUT.study.db."),
    ] = None,
    sampler: Annotated[str, typer.Option(help="Search: tpe or random.")] = "tpe",
    check_every: Annotated[
        int | None, typer.Option(help="Search: epochs between checks on valid; the best counts.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Search: checks without a better value that end a trial.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Search: end trials below the median of earlier ones.")
    ] = False,
) -> None:
    """Train a model with PyKEEN and write it as a run."""
    from kgdash.graph.datasets import load_dataset
    from kgdash.hpo.text import read_settings

    given = {
        "model.embedding_dim": dim,
        "training.num_epochs": epochs,
        "training.batch_size": batch_size,
        "optimizer.lr": learning_rate,
        "negative_sampler.num_negs_per_pos": negatives,
    }
    named = {
        "losses": tuple(loss.split(",")) if loss else None,
        "optimizer": optimizer,
        "training_loop": loop,
        "create_inverse_triples": inverse,
    }
    space = _space(
        model,
        "" if search else recipe,
        read_settings({key: text for key, text in given.items() if text is not None}, set_ or []),
        {key: value for key, value in named.items() if value is not None},
    )
    space = replace(space, random_seed=seed)
    runs: list[Run] = []
    only = {"--trials": trials, "--seconds": seconds, "--study": study, "--prune": prune}
    only |= {"--check-every": check_every, "--patience": patience}
    if search:
        if recipe is not None:
            raise KgdashError("--recipe: leaves nothing to search; leave out one of the two")
        from kgdash.hpo.selection import Budget
        from kgdash.hpo.trial import SearchPlan

        plan = SearchPlan(space, sampler, check_every, patience, prune)
        limit = _TRIALS if trials is None and seconds is None else trials
        graph, budget = load_dataset(dataset), Budget(limit, seconds)
        path = study or _study_file(out, graph, space)
        write_new_run(out, lambda o: runs.append(_search(graph, plan, path, o, budget)))
    elif wrong := [name for name, value in only.items() if value]:
        raise KgdashError(f"{', '.join(wrong)}: only with --search")
    else:
        write_new_run(out, lambda folder: runs.append(_train(dataset, space, folder)))
    for key, value in runs[0].training.get("evaluation", {}).items():
        print(f"{key:30} {value:.4f}")


def trials(
    study: Annotated[Path, typer.Argument(help="SQLite file of a search.")], *, output: Output
) -> None:
    """List the trials of a search with the best so far, and the command that trains the best."""
    from kgdash.hpo.importance import importances
    from kgdash.hpo.selection import best_command
    from kgdash.hpo.study_file import read_study

    found = read_study(study)
    command = None if found.best is None else best_command(found)

    def about() -> dict[str, Any]:
        table = found.trials.astype(object).where(found.trials.notna(), None)
        best = None if found.best is None else int(found.trials["trial"][found.best])
        return {
            "study": str(study),
            "about": dict(found.about),
            "best_trial": best,
            "best_value": None if best is None else found.trials["value"][found.best],
            "command": command,
            "importances": importances(found).to_dict(),
            "trials": table.to_dict("records"),
        }

    output.show(found.trials, about)
    if command and output.printed:
        print(f"# the best: {command}")


def _space(
    model: str, recipe: str | None, values: dict[str, Any], named: dict[str, Any]
) -> SearchSpace:
    """Return what the options say, over the recipe's.

    :param recipe: "" for none; None for what users get who name nothing
    :param values: parameters that were given
    :param named: other fields of the space that were given
    """
    from kgdash.hpo.recipes import STRONG, recipe_name
    from kgdash.hpo.recipes import recipe as recipe_of
    from kgdash.hpo.space import SearchSpace

    if recipe is None:
        recipe = "strong" if model in STRONG and not values and not named else None
    if not recipe:
        return SearchSpace(tuple(model.split(",")), values=values, **named)
    base = recipe_of(recipe_name(recipe), model).space(model)
    return replace(base, values={**base.values, **values}, **named)


def _train(dataset: str, space: SearchSpace, out: Path) -> Run:
    from kgdash.graph.datasets import load_dataset
    from kgdash.hpo.space import fixed_configuration
    from kgdash.runs.training import train as run_training

    values = {"model.embedding_dim": int(_DIMENSION), **space.values}
    config = fixed_configuration(replace(space, values=values))
    return run_training(load_dataset(dataset), config, out, terminal(f"training {config.model}"))


def _study_file(out: Path | None, graph: KnowledgeGraph, space: SearchSpace) -> Path:
    from kgdash.runs.library import runs_folder, suggested_name

    out = out or runs_folder() / suggested_name(graph.name, "-".join(space.models))
    return out.with_name(f"{out.name}.study.db")


def _search(graph: KnowledgeGraph, plan: SearchPlan, path: Path, out: Path, budget: Budget) -> Run:
    from kgdash.formats.run_directory import check_free
    from kgdash.hpo.selection import search, train_best
    from kgdash.progress import phases

    def print_trial(study: StudyFile) -> None:
        last = study.trials.iloc[-1]
        value = f"{last['value']:.4f}" if last["value"] == last["value"] else last["reason"]
        text = f"trial {last['trial']} {last['state']}: {value}"
        if study.best is not None:
            best = study.trials.loc[study.best]
            text += f"; best {best['value']:.4f} (trial {best['trial']})"
        print(f"\r{text:<70}" if sys.stderr.isatty() else text, flush=True)

    check_free(out)
    searching, training = phases(terminal(f"searching ({path.name})"), [0.9, 0.1])
    try:
        study = search(graph, plan, path, budget, searching, print_trial)
        return train_best(graph, study, plan.space, out, training)
    except KeyboardInterrupt:
        print(f"\n{path} keeps its trials: the same command goes on", file=sys.stderr)
        raise
