"""The command ``queries``: ReliK of true against false answers."""

from __future__ import annotations

from typing import Annotated

import typer

from kgdash.commands.output import (
    DatasetOption,
    JsonOption,
    OutOption,
    RunArgument,
    SeedOption,
    load_run,
)
from kgdash.commands.separated import ChainsOption, compare_labels


def queries(
    run: RunArgument,
    dataset: DatasetOption = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="1p, 2p, 3p, 2i or 3i; repeat for several.")
    ] = None,
    per_type: Annotated[int, typer.Option(help="Queries per type.")] = 50,
    hard: Annotated[
        str, typer.Option(help='Where true answers do not hold: "outside train" or with valid.')
    ] = "outside train",
    seed: SeedOption = 0,
    chains: ChainsOption = "best",
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Sample queries with true and false answers and compare their ReliK (--out: per instance)."""
    from kgdash.studies.queries import sample_queries
    from kgdash.studies.query_types import PAPER_TYPES

    loaded = load_run(run, dataset)
    chosen = tuple(types) if types else PAPER_TYPES
    instances = sample_queries(loaded.graph, chosen, per_type, hard, seed)
    compare_labels(loaded, instances, chains, as_json, out)
