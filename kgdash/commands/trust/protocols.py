"""The command ``protocols``: what evaluations with sampled negatives would have said."""

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from kgdash.commands.options.common import DatasetOption, FilterOption, SideOption, SplitOption
from kgdash.commands.options.groups import Output, RunsOptions
from kgdash.commands.options.output import records
from kgdash.progress import terminal

#: what `protocols` prints or writes as a table
ProtocolsTable = StrEnum("ProtocolsTable", "values orders flips")


def protocols(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN [RUN ...]", help="1 to 8 runs on the same graph.")
    ],
    dataset: DatasetOption = None,
    negatives: Annotated[
        list[int] | None,
        typer.Option(help="Uniform negatives of a protocol; may be repeated. Default: 100."),
    ] = None,
    k: Annotated[
        list[int] | None, typer.Option(help="Of Hits@k; may be repeated. Default: 1, 3, 10.")
    ] = None,
    split: SplitOption = "test",
    filter: FilterOption = None,
    side: SideOption = "both",
    table: Annotated[ProtocolsTable, typer.Option(help="What to print.")] = ProtocolsTable.values,
    *,
    output: Output,
) -> None:
    """Say what protocols that rank among a few candidates would have said, and which runs flip."""
    from kgdash.studies.comparison.comparison import distinct_names
    from kgdash.studies.protocols.orders import protocol_orders
    from kgdash.studies.protocols.protocols import ProtocolSetting

    setting = ProtocolSetting(
        **({"negatives": tuple(negatives)} if negatives else {}),
        **({"ks": tuple(k)} if k else {}),
        split=split,
        filter=filter,
        side=side,
    )
    loaded = RunsOptions(runs, dataset).load()
    found = protocol_orders(loaded, setting, terminal("protocols"))
    tables = {"values": found.values, "orders": found.orders, "flips": found.flips}

    def about() -> dict[str, Any]:
        named = zip(distinct_names(loaded), loaded, strict=True)
        notes = {name: list(run.notes) for name, run in named}
        return {"runs": list(notes), "notes": notes, **asdict(setting)} | records(tables)

    output.show(tables[table], about)
