"""The command ``study``: does the ReliK of subgraphs foretell the performance there?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.cross_validation import cross_validate, refuse_without_cv
from kgdash.commands.output import (
    DatasetOption,
    FilterOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.progress import terminal


def study(
    run: RunArgument,
    dataset: DatasetOption = None,
    subgraphs: Annotated[int, typer.Option(help="How many subgraphs are drawn.")] = 100,
    size: Annotated[
        list[int] | None,
        typer.Option(help="Entities in each; repeat for several sizes. Default: by the graph."),
    ] = None,
    method: Annotated[str, typer.Option(help="rwr or neighbourhood.")] = "rwr",
    restart: Annotated[float, typer.Option(help="Restart probability of the walk.")] = 0.2,
    hops: Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")] = 1,
    direction: Annotated[str, typer.Option(help="either, outgoing or incoming.")] = "either",
    seed: SeedOption = 0,
    evaluate: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    filter: FilterOption = None,
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact",
    level: Annotated[float, typer.Option(help="Of the bootstrap intervals, in (0, 1).")] = 0.95,
    each: Annotated[
        bool, typer.Option("--each", help="Print a row per subgraph, not the correlations.")
    ] = False,
    as_json: JsonOption = False,
    out: OutOption = None,
    cv: Annotated[
        int | None,
        typer.Option(
            help="Train models on so many folds of a dataset, given in place of RUN by name or "
            "folder, and report their mean; 0: on its own splits. What was trained is kept: the "
            "same command goes on where it was."
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="With --cv: PyKEEN's names; default: the paper's six.")
    ] = None,
    dimension: Annotated[int | None, typer.Option(help="With --cv: default 50.")] = None,
    epochs: Annotated[int | None, typer.Option(help="With --cv: default 100.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="With --cv: default: PyKEEN's choice.")
    ] = None,
    folds_only: Annotated[
        str | None, typer.Option(help="With --cv: only these folds, such as 0,1.")
    ] = None,
    workdir: Annotated[
        Path | None, typer.Option(help="With --cv: where trained runs are kept.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="With --cv: folder for a Markdown file and its tables.")
    ] = None,
) -> None:
    """Correlate the mean ReliK of random subgraphs with MRR and Hits@10 there."""
    training = {
        "models": models,
        "dimension": dimension,
        "epochs": epochs,
        "batch_size": batch_size,
        "folds_only": folds_only,
    }
    if cv is not None:
        asked = {
            "subgraphs": subgraphs,
            "sizes": tuple(size or ()),
            "method": method,
            "walk": {"restart": restart, "hops": hops, "direction": direction},
            "seed": seed,
            "evaluated": evaluate,
            "relik_method": relik_method,
            "filter": filter,
        }
        plan = {"folds": cv, **training, **asked}
        cross_validate(run, plan, level, workdir, results, each, as_json, out)
        return
    refuse_without_cv({**training, "workdir": workdir, "results": results})
    from kgdash.studies.correlation import study as compute

    loaded = load_run(run, dataset)
    figures, found = compute(
        loaded,
        size or (),
        subgraphs,
        method,
        seed,
        evaluate,
        relik_method,
        filter or "train+valid+test",
        level,
        progress=terminal("study"),
        restart=restart,
        hops=hops,
        direction=direction,
    )
    shown = found
    if each:
        names = [loaded.graph.entities[e] for e in figures["seed_entity"]]
        shown = figures.assign(seed_entity=names)
    if out is not None:
        write_or_print(shown, out)
    if as_json:
        print_json(
            {
                "run": loaded.name,
                "subgraphs": subgraphs,
                "sizes": found["size"].unique().tolist(),
                "method": method,
                "seed": seed,
                "evaluated": evaluate,
                "relik_method": relik_method,
                "notes": loaded.notes,
                "rows": shown.to_dict("records"),
            }
        )
    elif out is None:
        write_or_print(shown, None)
