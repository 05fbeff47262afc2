"""The command ``health``: ties, saturated and missing scores."""

from enum import StrEnum
from typing import Annotated, Any

import pandas as pd
import typer

from kgdash.commands.options.common import FilterOption, SideOption, SplitOption
from kgdash.commands.options.groups import Output, RunOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal

#: what `health` prints or writes as a table
HealthTable = StrEnum("HealthTable", "findings summary histogram ties relations entities missing")


def health(
    run: RunOptions,
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
    *,
    output: Output,
) -> None:
    """Check the scores that ranks compare: ties, constant or saturated scores, NaN."""
    from kgdash.health.of_run import check_side, score_health

    check_side(side)
    loaded = run.load()
    found = score_health(loaded, split, filter, terminal("scores"))
    tables: dict[str, pd.DataFrame] = found.tables(side)
    about: dict[str, Any] = {"run": loaded.name, "split": split, "filter": found.filter}
    about |= {"side": side, "notes": loaded.notes, "ranked": found.ranks is not None}
    output.show(tables[table], lambda: about | records(tables))
