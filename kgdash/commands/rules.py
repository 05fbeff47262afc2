"""The command ``rules``: ReliK of true against false instances of rules."""

from __future__ import annotations

from pathlib import Path
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
from kgdash.progress import terminal


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
    compare_labels(loaded, instances, chains, as_json, out)
