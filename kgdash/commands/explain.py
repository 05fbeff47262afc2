"""The command ``explain``: what explains ReliK, and what remains without it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.shared import (
    DatasetOption,
    JsonOption,
    OutOption,
    RankTypeOption,
    RunArgument,
    SeedOption,
    SideOption,
    SplitOption,
    load_run,
    print_json,
    write_or_print,
)
from kgdash.progress import terminal

if TYPE_CHECKING:
    from kgdash.runs import Run


class ExplanationTable(StrEnum):
    """What `explain` prints or writes as a table."""

    factors = "factors"
    classes = "classes"
    regression = "regression"
    shares = "shares"
    partial = "partial"
    subgraphs = "subgraphs"


def explain(
    run: RunArgument,
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    side: SideOption = "both",
    rank_type: RankTypeOption = "realistic",
    relik_method: Annotated[str, typer.Option(help="As --method of relik.")] = "exact",
    table: Annotated[
        ExplanationTable,
        typer.Option(
            help="factors: each for itself; classes: ReliK per cardinality and pattern; "
            "regression: all together, and shares of R²; partial: ReliK against reciprocal ranks "
            "with degree and frequency taken out; subgraphs: mean ReliK against MRR over random "
            "subgraphs, with degree taken out."
        ),
    ] = ExplanationTable.factors,
    subgraphs: Annotated[int, typer.Option(help="How many, for --table subgraphs.")] = 100,
    size: Annotated[
        int | None, typer.Option(help="Entities in each subgraph. Default: by the graph.")
    ] = None,
    level: Annotated[float, typer.Option(help="Of the intervals, in (0, 1).")] = 0.95,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Tell what explains ReliK, and what it says of ranks once that is taken out."""
    loaded = load_run(run, dataset)
    if table == ExplanationTable.subgraphs:
        tables = {
            "subgraphs": lambda: _subgraphs(loaded, subgraphs, size, seed, relik_method, level)
        }
    else:
        tables = _of_triples(loaded, split, side, rank_type, relik_method, level, seed)
    made = {name: make() for name, make in tables.items() if as_json or name == table}
    if out is not None:
        write_or_print(made[table], out)
    if as_json:
        about: dict[str, Any] = {
            "run": loaded.name,
            "split": split,
            "side": side,
            "rank_type": rank_type,
            "relik_method": relik_method,
            "notes": loaded.notes,
        }
        print_json(
            about | {name: rows.to_dict("records") for name, rows in made.items()} | _words(made)
        )
    elif out is None:
        write_or_print(made[table], None)


def _of_triples(
    run: Run, split: str, side: str, rank_type: str, relik_method: str, level: float, seed: int
) -> dict[str, Callable[[], pd.DataFrame]]:
    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.studies.correlation.confounder_regression import regression
    from kgdash.studies.correlation.confounders import (
        CLASSES,
        class_figures,
        stored,
        triple_factors,
    )

    progress = terminal("ReliK and ranks")
    bootstrap = Bootstrap(level, seed=seed)
    factors = triple_factors(run, split, side, rank_type, relik_method, progress)

    def classes() -> pd.DataFrame:
        return pd.concat([class_figures(factors, name).assign(factor=name) for name in CLASSES])

    return {
        "factors": lambda: stored(run, "factors", factors, bootstrap, terminal("factors")),
        "classes": classes,
        "regression": lambda: regression(factors, level).coefficients,
        "shares": lambda: regression(factors, level).shares,
        "partial": lambda: stored(run, "partial", factors, bootstrap, terminal("partial")),
    }


def _subgraphs(
    run: Run, count: int, size: int | None, seed: int, relik_method: str, level: float
) -> pd.DataFrame:
    from kgdash.statistics.bootstrap import Bootstrap
    from kgdash.studies.correlation.confounders_of_subgraphs import (
        subgraph_factors,
        subgraph_partials,
    )

    figures = subgraph_factors(
        run, count, size, seed, relik_method=relik_method, progress=terminal("subgraphs")
    )
    return subgraph_partials(figures, bootstrap=Bootstrap(level, seed=seed))


def _words(made: dict[str, pd.DataFrame]) -> dict[str, str]:
    from kgdash.studies.correlation.confounder_words import remains_in_words

    if "partial" not in made:
        return {}
    return {"remains": remains_in_words(made["partial"], "degree")}
