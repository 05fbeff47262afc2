"""The command ``health``: ties, saturated and missing scores."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import (
    DatasetOption,
    FilterOption,
    JsonOption,
    OutOption,
    RunArgument,
    SideOption,
    SplitOption,
)
from kgdash.commands.options.output import load_run, print_json, write_or_print
from kgdash.progress import terminal


class HealthTable(StrEnum):
    """What `health` prints or writes as a table."""

    findings = "findings"
    summary = "summary"
    histogram = "histogram"
    ties = "ties"
    relations = "relations"
    entities = "entities"
    missing = "missing"


def health(
    run: RunArgument,
    dataset: DatasetOption = None,
    split: SplitOption = "test",
    filter: FilterOption = None,
    side: SideOption = "both",
    table: Annotated[
        HealthTable,
        typer.Option(
            help="findings; summary and histogram of true answers' and candidates' scores; the "
            "largest ties; the gap by ties of all relations; entities that always tie; missing: "
            "whose scores are NaN."
        ),
    ] = HealthTable.findings,
    as_json: JsonOption = False,
    out: OutOption = None,
) -> None:
    """Check the scores that ranks compare: ties, constant or saturated scores, NaN."""
    from kgdash.health.of_run import check_side, score_health

    check_side(side)
    loaded = load_run(run, dataset)
    found = score_health(loaded, split, filter, terminal("scores"))
    tables: dict[str, pd.DataFrame] = found.tables(side)
    if out is not None:
        write_or_print(tables[table], out)
    if as_json:
        about: dict[str, Any] = {
            "run": loaded.name,
            "split": split,
            "filter": found.filter,
            "side": side,
            "notes": loaded.notes,
            "ranked": found.ranks is not None,
        }
        print_json(about | {name: rows.to_dict("records") for name, rows in tables.items()})
    elif out is None:
        write_or_print(tables[table], None)
