"""The command ``discover``: the best new facts of the whole graph."""

from typing import Annotated, Any

import typer

from kgdash.commands.options.groups import HelpedRunOptions, Output
from kgdash.commands.options.output import records
from kgdash.progress import terminal


def discover(
    run: HelpedRunOptions,
    k: Annotated[int, typer.Option(help="How many.")] = 1000,
    by: Annotated[
        str, typer.Option(help="probability (the smaller of both sides') or score.")
    ] = "probability",
    types: Annotated[
        str,
        typer.Option(help="Ends: seen (only what the relation has on that side), or any."),
    ] = "seen",
    per_relation: Annotated[
        int | None, typer.Option(help="At most so many of one relation. Default: any number.")
    ] = None,
    relation: Annotated[
        list[str] | None, typer.Option(help="Only of this one; may be repeated. Default: all.")
    ] = None,
    known: Annotated[
        str,
        typer.Option(help="Splits whose triples are no candidates, as in train+valid+test."),
    ] = "train+valid+test",
    loops: Annotated[bool, typer.Option(help="Also triples of an entity with itself.")] = False,
    *,
    output: Output,
) -> None:
    """List the best of all triples that nobody recorded, best first."""
    from kgdash.graph import IDS, SPLITS
    from kgdash.studies.discovery.discovery import DiscoverySetting
    from kgdash.studies.discovery.discovery import discover as find

    splits = tuple(known.split("+"))
    setting = DiscoverySetting(k, by, types, per_relation, tuple(relation or ()), splits, loops)
    with run.opened() as (loaded,):
        found = find(loaded, setting, terminal("new facts"))
    table = loaded.graph.with_names(found)
    if set(splits) != set(SPLITS):
        table["recorded"] = loaded.graph.split_of(found[IDS].to_numpy())

    def about() -> dict[str, Any]:
        told: dict[str, Any] = {"run": loaded.name, "notes": loaded.notes, "by": by, "types": types}
        told |= {
            "per_relation": per_relation,
            "relations": relation or [],
            "known": known,
            "loops": loops,
        }
        return told | records({"triples": table})

    output.show(table, about)
