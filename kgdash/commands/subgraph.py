"""``kgdash subgraph``: ReliK and MRR of a part of the graph."""

import sys
from typing import Annotated

import typer

from kgdash.commands.options.common import (
    DirectionOption,
    HopsOption,
    RestartOption,
    SeedOption,
    SubgraphMethodOption,
)
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.terminal import say
from kgdash.progress import terminal


def subgraph(
    run: RunOptions,
    entity: Annotated[str, typer.Option(help="Seed entity, by name or label.")],
    method: SubgraphMethodOption = "rwr",
    size: Annotated[int, typer.Option(help="Entities to collect.")] = 60,
    restart: RestartOption = 0.2,
    hops: HopsOption = 1,
    direction: DirectionOption = "either",
    seed: SeedOption = 0,
    evaluated: Annotated[str, typer.Option(help="Triples behind the MRRs: test or all.")] = "test",
    relik_method: Annotated[
        str | None,
        typer.Option(
            help="As --method of relik; default: exact, or sampled where the graph is large."
        ),
    ] = None,
    *,
    output: Output,
) -> None:
    """Pick a subgraph and compare its ReliK with its MRRs."""
    from kgdash.runs.preparation import relik_method as default_method
    from kgdash.studies.reliability.local_comparison import compare, compare_steps, summary
    from kgdash.studies.reliability.local_verdict import (
        local_estimates,
        local_verdict,
        whole_estimates,
    )

    loaded = run.load()
    part = loaded.subgraph(
        entity, method, size, restart=restart, seed=seed, hops=hops, direction=direction
    )
    choices = (loaded, part, evaluated, relik_method or default_method(loaded))
    if sys.stderr.isatty():
        for comparison in compare_steps(*choices, progress=terminal("subgraph")):
            if comparison.share < 1 and comparison.means["relik"].value > 0:
                low, high = (comparison.means[end].value for end in ("relik_low", "relik_high"))
                print(f"\rmean ReliK between {low:.3g} and {high:.3g} (95%)", file=sys.stderr)
    else:
        comparison = compare(*choices)
    estimates = local_estimates(comparison)
    verdict = local_verdict(estimates, whole_estimates(loaded))
    said = {"verdict": verdict, "intervals": {n: [e.low, e.high] for n, e in estimates.items()}}
    if output.printed:
        for name, (value, count) in comparison.means.items():
            print(f"{name:14} {value:.6g}  (n = {count})")
        say(" ".join(verdict))
        say(part.note or f"{len(part.entities)} entities")
    triples = loaded.graph.with_names(comparison.triples)
    output.show(triples, lambda: summary(comparison, loaded) | said)
