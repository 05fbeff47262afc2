"""The command ``confounders``: what ReliK goes with, and what remains without it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import (
    LevelOption,
    RankTypeOption,
    RelikMethodOption,
    SeedOption,
    SideOption,
    SplitOption,
)
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from kgdash.graph.subgraph import SubgraphSampling
    from kgdash.runs import Run


#: what `confounders` prints or writes as a table
ConfounderTable = StrEnum("ConfounderTable", "factors classes partial subgraphs")


def confounders(
    run: RunOptions,
    split: SplitOption = "test",
    side: SideOption = "both",
    rank_type: RankTypeOption = "realistic",
    relik_method: RelikMethodOption = "exact",
    table: Annotated[
        ConfounderTable,
        typer.Option(
            help="factors: each for itself; classes: ReliK per cardinality and pattern; "
            "partial: ReliK against reciprocal ranks with degree and frequency taken out; "
            "subgraphs: mean ReliK against MRR over random subgraphs, with degree taken out."
        ),
    ] = ConfounderTable.factors,
    subgraphs: Annotated[int, typer.Option(help="How many, for --table subgraphs.")] = 100,
    size: Annotated[
        int | None, typer.Option(help="Entities in each subgraph. Default: by the graph.")
    ] = None,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    *,
    output: Output,
) -> None:
    """Tell whether degree or frequency account for ReliK, and what it says of ranks beyond them."""
    from kgdash.graph.subgraph import SubgraphSampling
    from kgdash.studies.correlation.confounder_verdict import describe_partials
    from kgdash.studies.correlation.confounders import triple_factors
    from kgdash.studies.reliability.subgraph_table import default_size

    bootstrap = Bootstrap(level, seed=seed)
    loaded = run.load()
    if table == ConfounderTable.subgraphs:
        sampling = SubgraphSampling(subgraphs, size or default_size(loaded), seed=seed)
        made = {"subgraphs": _subgraphs(loaded, sampling, relik_method, bootstrap)}
    else:
        progress = terminal("ReliK and ranks")
        factors = triple_factors(loaded, split, side, rank_type, relik_method, progress)
        tables = _of_triples(loaded, factors, bootstrap)
        made = {name: make() for name, make in tables.items() if output.as_json or name == table}
    about: dict[str, Any] = {"run": loaded.name, "split": split, "side": side}
    about |= {"rank_type": rank_type, "relik_method": relik_method, "notes": loaded.notes}
    about |= records(made)
    if "partial" in made:
        about["remains"] = describe_partials(made["partial"], "degree")
    output.show(made[table], lambda: about)


def _of_triples(
    run: Run, factors: pd.DataFrame, bootstrap: Bootstrap
) -> dict[str, Callable[[], pd.DataFrame]]:
    from kgdash.studies.correlation.confounders import CLASSES, cached_tests, class_table

    return {
        "factors": lambda: cached_tests(run, "factors", factors, bootstrap, terminal("factors")),
        "classes": lambda: pd.concat(
            [class_table(factors, name).assign(factor=name) for name in CLASSES]
        ),
        "partial": lambda: cached_tests(run, "partial", factors, bootstrap, terminal("partial")),
    }


def _subgraphs(
    run: Run, sampling: SubgraphSampling, relik_method: str, bootstrap: Bootstrap
) -> pd.DataFrame:
    from kgdash.studies.correlation.subgraph_confounders import subgraph_factors, subgraph_partials
    from kgdash.studies.reliability.subgraph_evaluation import SubgraphEvaluation

    evaluation = SubgraphEvaluation(relik_method=relik_method)
    factors = subgraph_factors(run, sampling, evaluation, terminal("subgraphs"))
    return subgraph_partials(*factors, bootstrap=bootstrap)
