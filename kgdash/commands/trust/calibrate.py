"""The command ``calibrate``: probabilities of answers, and how far they are right on test."""

from enum import StrEnum
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import LevelOption, SeedOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap

#: what `calibrate` prints or writes as a table
CalibrateTable = StrEnum(
    "CalibrateTable", "errors diagram side relation community degree relik temperatures queries"
)


def calibrate(
    run: RunOptions,
    table: Annotated[
        CalibrateTable,
        typer.Option(
            help="errors of each way; reliability diagram; errors by side, relation, community, "
            "deciles of degree or ReliK of the entity that a query names; fitted temperatures; all "
            "test queries."
        ),
    ] = CalibrateTable.errors,
    level: LevelOption = 0.95,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.")] = 1000,
    seed: SeedOption = 0,
    *,
    output: Output,
) -> None:
    """Turn scores into probabilities on validation, and say how far they are right on test."""
    from kgdash.studies.probability.calibration import WAYS, calibration_on_test
    from kgdash.studies.probability.calibration_report import (
        diagram,
        grouped_errors,
        overall_errors,
    )
    from kgdash.studies.probability.query_groups import GROUPINGS

    bootstrap = Bootstrap(level, resamples, seed)
    loaded = run.load()
    tested = calibration_on_test(loaded, terminal("probabilities"))
    errors = overall_errors(tested, bootstrap, terminal("intervals"))
    tables: dict[str, pd.DataFrame] = {
        "errors": errors,
        "diagram": pd.concat([diagram(tested, way).assign(way=way) for way in WAYS]),
        "temperatures": _named(loaded, tested.fitted.betas),
        "queries": loaded.graph.with_names(tested.queries),
    }
    if table in GROUPINGS:
        tables[table] = grouped_errors(tested, table, bootstrap, terminal("groups"))

    def about() -> dict[str, Any]:
        values = errors.pivot(index="way", columns="error", values="value")
        found = {way: values.loc[way].to_dict() for way in WAYS}
        rest = {name: rows for name, rows in tables.items() if name != "queries"}
        return {"run": loaded.name, "notes": loaded.notes, "test": found, **records(rest)}

    output.show(tables[table], about)


def _named(run: Any, betas: pd.DataFrame) -> pd.DataFrame:
    labels = [run.graph.relation_labels[r] if r >= 0 else "all others" for r in betas["relation"]]
    return betas.assign(relation=labels)
