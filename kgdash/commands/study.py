"""The command ``study``: does the ReliK of subgraphs foretell the performance there?"""

from __future__ import annotations

from typing import Annotated

import typer

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
) -> None:
    """Correlate the mean ReliK of random subgraphs with MRR and Hits@10 there."""
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
