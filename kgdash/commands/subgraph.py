"""``kgdash subgraph``: ReliK and MRR of a part of the graph."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kgdash.commands.shared import (
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


def subgraph(
    run: RunArgument,
    entity: Annotated[str, typer.Option(help="Seed entity, by name or label.")],
    dataset: DatasetOption = None,
    method: Annotated[str, typer.Option(help="rwr or neighbourhood.")] = "rwr",
    size: Annotated[int, typer.Option(help="Entities to collect.")] = 60,
    restart: Annotated[float, typer.Option(help="Restart probability of the walk.")] = 0.2,
    hops: Annotated[int, typer.Option(help="Of the neighbourhood: 1, 2 or 3.")] = 1,
    direction: Annotated[str, typer.Option(help="either, outgoing or incoming.")] = "either",
    seed: SeedOption = 0,
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact",
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Pick a subgraph and compare its ReliK with its MRRs."""
    from kgdash.studies.reliability.local_comparison import compare, compare_steps, summary

    loaded = load_run(run, dataset)
    part = loaded.subgraph(
        entity, method, size, restart=restart, seed=seed, hops=hops, direction=direction
    )
    choices = (loaded, part, evaluated, relik_method)
    if sys.stderr.isatty():
        for comparison in compare_steps(*choices, progress=terminal("subgraph")):
            if comparison.method != relik_method:
                low, high = (comparison.means[end].value for end in ("relik_low", "relik_high"))
                print(f"\rmean ReliK between {low:.3g} and {high:.3g} (95 %)", file=sys.stderr)
    else:
        comparison = compare(*choices)
    if as_json:
        print_json(summary(comparison, loaded))
        return
    if out is None:
        for name, (value, count) in comparison.means.items():
            print(f"{name:14} {value:.6g}  (n = {count})")
        print(part.note or f"{len(part.entities)} entities")
    write_or_print(loaded.graph.with_names(comparison.triples), out)
