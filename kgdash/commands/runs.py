"""The command ``runs``: all runs by name; yours renamed, or removed."""

from typing import Annotated

import pandas as pd
import typer

from kgdash.commands.options.common import JsonOption
from kgdash.commands.options.output import print_json

app = typer.Typer(
    invoke_without_command=True, help="List the runs that go by a name; rename or remove yours."
)


@app.callback()
def runs(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the runs that go by a name, rename or remove one of yours.

    Yours are in the folder of runs; the others are bundled.
    """
    from kgdash.runs.library import list_runs

    if context.invoked_subcommand is not None:
        return
    rows = list_runs()
    if as_json:
        print_json({"runs": rows})
    else:
        print(pd.DataFrame(rows).astype(object).fillna("–").to_string(index=False))


@app.command()
def rename(
    old: Annotated[str, typer.Argument(help="One of your runs.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
) -> None:
    """Give one of your runs another name; groupings saved with it stay with it."""
    from kgdash.runs.library import rename_run

    print(f"{old} is now {rename_run(old, new).name}")


@app.command()
def remove(name: Annotated[str, typer.Argument(help="One of your runs.")]) -> None:
    """Delete one of your runs with all that stands in its folder; labels and tables stay."""
    from kgdash.runs.library import remove_run

    remove_run(name)
    print(f"removed {name}")
