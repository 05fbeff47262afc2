"""The commands ``cache list``, ``cache clear`` and ``cache path``: the tables kept on disk."""

from datetime import timedelta
from typing import Annotated

import typer

from kgdash.commands.options.common import JsonOption
from kgdash.commands.options.output import print_json
from kgdash.errors import KgdashError

app = typer.Typer(invoke_without_command=True, help="List or clear the tables kept on disk.")

#: columns of the printed list; JSON has all
_SHOWN = ("key", "kind", "run", "method", "filter", "triples", "seconds", "MiB", "used")


@app.callback()
def cache(context: typer.Context) -> None:
    """Show how many tables there are, and where."""
    from kgdash.files.cache_folder import cache_directory, cache_limit
    from kgdash.files.table_cache import cache_size

    if context.invoked_subcommand is None:
        count, size = cache_size()
        of = f"{size / 2**20:.1f} of {cache_limit() / 2**20:,.0f} MiB"
        print(f"{count} tables, {of} in {cache_directory()}")


@app.command(name="list")
def list_(as_json: JsonOption = False) -> None:
    """List the tables, the latest used first."""
    from kgdash.files.cache_folder import cache_directory
    from kgdash.files.table_cache import list_cache

    table = list_cache()
    if as_json:
        times = {column: table[column].map(_iso) for column in ("created", "used")}
        numbers = {
            column: table[column].astype(object).where(table[column].notna(), None)
            for column in ("triples", "seed")
        }
        rows = table.assign(**numbers, **times).to_dict("records")
        print_json({"directory": str(cache_directory()), "tables": rows})
        return
    if table.empty:
        print(f"no tables in {cache_directory()}")
        return
    shown = table.assign(
        key=table["key"].str[:8],
        MiB=(table["bytes"] / 2**20).round(2),
        used=table["used"].dt.strftime("%Y-%m-%d %H:%M"),
    )
    print(shown[list(_SHOWN)].to_string(index=False, na_rep="-"))


@app.command()
def clear(
    run: Annotated[str | None, typer.Option(help="Only of this run, by name or digest.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="Only ranks, relik, rules, comparison, graph or unknown.")
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what was not used for so long.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="Only this table, by the start of its key; repeatable.")
    ] = None,
) -> None:
    """Delete the tables that meet all conditions; without any, all tables."""
    from kgdash.files.cache_folder import cache_directory
    from kgdash.files.table_cache import KINDS, clear_cache, list_cache

    if kind is not None and kind not in KINDS:
        raise KgdashError(f"expected a kind out of {', '.join(KINDS)}; found {kind!r}")
    if older_than is not None and not 0 <= older_than < 1e6:
        raise KgdashError(f"expected a number of days; found {older_than:g}")
    keys = None
    if key:
        starts = tuple(filter(None, key))  # of an unset variable, which would name all
        keys = [name for name in list_cache()["key"] if name.startswith(starts)]
    age = None if older_than is None else timedelta(days=older_than)
    count = clear_cache(keys, run, kind, age)
    print(f"deleted {count} tables from {cache_directory()}")


@app.command()
def path() -> None:
    """Print the folder that holds them."""
    from kgdash.files.cache_folder import cache_directory

    print(cache_directory())


def _iso(time: object) -> str | None:
    text = getattr(time, "isoformat", lambda: "NaT")()
    return None if text == "NaT" else text
