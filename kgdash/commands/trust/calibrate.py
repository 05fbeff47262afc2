"""The command ``calibrate``: probabilities of answers, and how far they are right on test."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import LevelOption, SeedOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal
from kgdash.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from kgdash.runs import Run

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
    from kgdash.studies.probability.calibration_summary import (
        calibration_by_groups,
        summarize_calibration,
    )
    from kgdash.studies.probability.query_groups import GROUPINGS

    bootstrap = Bootstrap(level, resamples, seed)
    loaded = run.load()
    found = summarize_calibration(loaded, bootstrap, terminal("probabilities"))
    tables: dict[str, pd.DataFrame] = {"errors": found.errors, "diagram": found.diagrams}
    if table in GROUPINGS:
        tables[table] = calibration_by_groups(loaded, table, bootstrap, terminal("groups"))
    if table in ("temperatures", "queries"):
        tested = calibration_on_test(loaded)
        tables["temperatures"] = _named(loaded, tested.fitted.betas)
        tables["queries"] = loaded.graph.with_names(tested.queries)

    def about() -> dict[str, Any]:
        values = found.errors.pivot(index="way", columns="error", values="value")
        told = {way: values.loc[way].to_dict() for way in WAYS}
        rest = {name: rows for name, rows in tables.items() if name != "queries"}
        return {"run": loaded.name, "notes": loaded.notes, "test": told, **records(rest)}

    output.show(tables[table], about)


def _named(run: Run, betas: pd.DataFrame) -> pd.DataFrame:
    label = run.graph.relation_lookup.distinct_label
    labels = [label(int(r)) if r >= 0 else "all others" for r in betas["relation"]]
    return betas.assign(relation=labels)
