"""The commands ``relik`` and ``prepare``: the ReliK of triples, and counting it ahead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from kgdash.commands.options.common import OutOption, SeedOption, WidthOption
from kgdash.commands.options.groups import HelpedRunOptions
from kgdash.commands.options.output import write_or_print
from kgdash.errors import KgdashError
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.statistics.sampled_mean import SampledMean


def relik(
    run: HelpedRunOptions,
    split: Annotated[str | None, typer.Option(help="train, valid or test.")] = None,
    triples: Annotated[
        Path | None, typer.Option(help="TSV or CSV of head, relation, tail, by name or label.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="exact, sampled, sampled-paper or lower-bound.")
    ] = "exact",
    rank_type: Annotated[
        str, typer.Option(help="How ties count: optimistic (the paper's), realistic, pessimistic.")
    ] = "optimistic",
    samples: Annotated[int, typer.Option(help="Negatives per side, if sampled.")] = 1000,
    seed: SeedOption = 0,
    width: WidthOption = None,
    out: OutOption = None,
) -> None:
    """Compute the ReliK of a split or of the triples of a file, or with --width their mean."""
    from kgdash.graph.triple_files import read_graph_triples

    if split and triples:
        raise KgdashError("give either --split or --triples, not both")
    if width is not None and (method, rank_type) != ("exact", "optimistic"):
        raise KgdashError("--width counts the triples that it draws exactly: leave --method out")
    with run.opened() as (loaded,):
        rows = read_graph_triples(triples, loaded.graph) if triples else None
        if width is not None:
            progress = terminal(f"ReliK to a width of {width:g}")
            found = loaded.sampled("relik", split or "test", rows, width, seed, progress)
            _tell(found.mean, out)
            return
        table = loaded.relik(
            split or "test",
            rows,
            method,
            rank_type,
            terminal(f"ReliK ({method})"),
            samples=samples,
            seed=seed,
        )
    write_or_print(loaded.graph.with_names(table), out)


def _tell(mean: SampledMean, out: Path | None) -> None:
    row = {"relik": mean.value, "low": mean.low, "high": mean.high}
    write_or_print(pd.DataFrame([row | {"n": mean.n, "of": mean.population}]), out)


def prepare(run: HelpedRunOptions) -> None:
    """Count ReliK of all known triples, the ranks of test, and what pages open with."""
    from kgdash.engine.workers import lowest_priority
    from kgdash.runs.preparation import prepared_share
    from kgdash.studies.overview.preparation import prepare_pages

    lowest_priority()
    with run.opened() as (loaded,):
        try:
            prepare_pages(loaded, terminal(f"preparing {loaded.name}"))
        except KeyboardInterrupt:
            share, kept = prepared_share(loaded), "of ReliK is kept: the same command goes on there"
            print(f"\n{share:.0%} {kept}", file=sys.stderr)
            raise
    print(f"{loaded.name}: {len(loaded.graph.known()):,} triples are prepared")
