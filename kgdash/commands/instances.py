"""The commands ``queries`` and ``rules``: ReliK of true against false instances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kgdash.commands.output import (
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

ChainsOption = Annotated[str, typer.Option(help="Several chains to an answer: best or mean.")]


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
    from kgdash.studies.queries import QUERY_TYPES, sample_queries

    loaded = load_run(run, dataset)
    chosen = tuple(types) if types else tuple(QUERY_TYPES)
    instances = sample_queries(loaded.graph, chosen, per_type, hard, seed)
    _compare(loaded, instances, chains, as_json, out)


def rules(
    run: RunArgument,
    dataset: DatasetOption = None,
    table: Annotated[
        Path | None, typer.Option(help="Table of labelled instances; without it rules are mined.")
    ] = None,
    max_rules: Annotated[int, typer.Option(help="Mined rules to keep.")] = 12,
    min_pca: Annotated[float, typer.Option(help="Least PCA confidence.")] = 0.3,
    per_rule: Annotated[int, typer.Option(help="Instances per rule and label.")] = 30,
    seed: SeedOption = 0,
    chains: ChainsOption = "best",
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Compare ReliK on true and false instances of rules (--out: per instance)."""
    from kgdash.studies.mined_instances import mined_instances
    from kgdash.studies.rule_table import read_rule_table

    loaded = load_run(run, dataset)
    instances = (
        read_rule_table(table, loaded.graph)
        if table
        else mined_instances(
            loaded.graph, max_rules, min_pca, per_rule, seed, terminal("mining rules")
        )
    )
    _compare(loaded, instances, chains, as_json, out)


def _compare(run: Any, instances: Any, chains: str, as_json: bool, out: Path | None) -> None:
    from kgdash.studies.instances import score_instances
    from kgdash.studies.separation import separation

    scored = score_instances(run, instances, terminal("scoring instances"))
    measures = {m: separation(scored.table, m, chains) for m in ("relik", "reciprocal_rank")}
    if out is not None:
        write_or_print(scored.table, out)
    if as_json:
        print_json(
            {
                "run": run.name,
                "chains": chains,
                "notes": instances.notes,
                "separation": {m: t.to_dict("records") for m, t in measures.items()},
            }
        )
    elif out is None:
        for measure, found in measures.items():
            print(f"# {measure}")
            write_or_print(found, None)
