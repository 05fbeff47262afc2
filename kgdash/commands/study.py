"""The command ``study``: does the ReliK of subgraphs foretell the performance there?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgdash.commands.cross_validate import (
    cross_validate,
    refuse_with_cv,
    refuse_without_cv,
)
from kgdash.commands.shared import (
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
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    filter: FilterOption = None,
    k: Annotated[
        list[int] | None, typer.Option(help="Of Hits@k; repeat for several. Default: 1, 3, 10.")
    ] = None,
    corrupt: Annotated[
        str,
        typer.Option(
            help="Where the negatives of the classification come from: inside (the subgraph) or "
            "anywhere."
        ),
    ] = "inside",
    compared: Annotated[
        list[str] | None,
        typer.Option("--with", help="Another run, studied on the same subgraphs; repeat."),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Print the paper's table: Pearson's r, runs × tasks."),
    ] = False,
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
    """Correlate the mean ReliK of random subgraphs with the performance there."""
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
            "evaluated": evaluated,
            "relik_method": relik_method,
            "filter": filter,
            "ks": tuple(k) if k else None,
            "corrupt": corrupt,
        }
        refuse_with_cv({"dataset": dataset, "with": compared, "paper": paper or None})
        plan = {"folds": cv, **training, **asked}
        cross_validate(run, plan, level, workdir, results, each, as_json, out)
        return
    refuse_without_cv({**training, "workdir": workdir, "results": results})
    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.studies.comparison.comparison import check_comparable, distinct_names
    from kgdash.studies.correlation.correlation import study_runs
    from kgdash.studies.correlation.models_table import models_table
    from kgdash.studies.reliability.subgraph_evaluation import KS

    first = load_run(run, dataset)
    loaded = [first, *(load_run(other, dataset) for other in compared or ())]
    if compared:
        check_comparable(loaded)
    figures, found = study_runs(
        dict(zip(distinct_names(loaded), loaded, strict=True)),
        terminal("study"),
        sizes=size or (),
        count=subgraphs,
        method=method,
        seed=seed,
        evaluated=evaluated,
        relik_method=relik_method,
        filter=filter or "train+valid+test",
        bootstrap=Bootstrap(level, seed=seed),
        ks=k or KS,
        corrupt=corrupt,
        restart=restart,
        hops=hops,
        direction=direction,
    )
    shown = models_table(found) if paper else found
    if each:
        names = [first.graph.entities[e] for e in figures["seed_entity"]]
        shown = figures.assign(seed_entity=names)
    if not compared:
        shown = shown.drop(columns="run")
    if out is not None:
        write_or_print(shown, out)
    if as_json:
        print_json(
            {
                "run": first.name,
                "runs": [other.name for other in loaded],
                "subgraphs": subgraphs,
                "sizes": found["size"].unique().tolist(),
                "method": method,
                "seed": seed,
                "evaluated": evaluated,
                "relik_method": relik_method,
                "notes": [note for other in loaded for note in other.notes],
                "rows": shown.to_dict("records"),
            }
        )
    elif out is None:
        write_or_print(shown, None)
