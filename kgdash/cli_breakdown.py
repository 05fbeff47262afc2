"""The command ``breakdown``: a metric by groups of triples."""

from __future__ import annotations

from typing import Annotated

import typer

from kgdash.cli_output import (
    DatasetOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.progress import terminal


def breakdown(
    run: RunArgument,
    by: Annotated[
        str,
        typer.Option(
            help="relation, cardinality, pattern, head_degree, tail_degree, answers or frequency."
        ),
    ] = "relation",
    metric: Annotated[
        str, typer.Option(help="Key of a metric, as `metrics` prints it; hits_at_k for any k.")
    ] = "inverse_harmonic_mean_rank",
    dataset: DatasetOption = None,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "test",
    filter: Annotated[
        str | None,
        typer.Option(help="train+valid+test, train+valid, train+test or none (raw)."),
    ] = None,
    rank_type: Annotated[
        str, typer.Option(help="How ties count: optimistic, realistic or pessimistic.")
    ] = "realistic",
    level: Annotated[float, typer.Option(help="Of the bootstrap intervals, in (0, 1).")] = 0.95,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Break a metric down by groups of triples, per side, with intervals and ties."""
    from kgdash.breakdowns import annotate, check_choices
    from kgdash.breakdowns import breakdown as compute
    from kgdash.graph import default_filter

    check_choices(by, metric, rank_type, level)
    loaded = load_run(run, dataset)
    chosen = filter or default_filter(split)
    ranks = loaded.ranks(split=split, filter=chosen, progress=terminal("ranks"))
    table = compute(annotate(ranks, loaded.graph), by, metric, rank_type, level, seed)
    if out is not None:
        write_or_print(table, out)
    if as_json:
        print_json(
            {
                "run": loaded.name,
                "split": split,
                "filter": chosen,
                "by": by,
                "metric": metric,
                "rank_type": rank_type,
                "level": level,
                "seed": seed,
                "notes": loaded.notes,
                "groups": table.to_dict("records"),
            }
        )
    elif out is None:
        write_or_print(table, None)
